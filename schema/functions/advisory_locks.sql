-- Sessions hold advisory locks of sources and accounts, and pg_locks shows their numbers to every role.

CREATE OR REPLACE FUNCTION skua.restrict_advisory_locks() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  lock_function regprocedure;
  writer        text;
BEGIN
  FOR lock_function IN
    SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', lock_function);
    FOR writer IN
      SELECT r.rolname FROM pg_roles AS r WHERE r.rolname = 'skua_writer'
      OR r.oid = (SELECT n.nspowner FROM pg_namespace AS n WHERE n.nspname = 'skua')
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', lock_function, writer);
    END LOOP;
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.restrict_advisory_locks() IS 'Lets only skua_writer and the owner of the schema take advisory locks in this database. Only a superuser can run it. It also concerns other programs that use this database.';
REVOKE EXECUTE ON FUNCTION skua.restrict_advisory_locks() FROM PUBLIC;
