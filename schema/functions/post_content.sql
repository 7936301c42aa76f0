-- The normal forms of the tags and links of posts. libs/foundation/records/post_content.cpp computes the
-- same.

-- One letter becomes one letter, in every locale.
CREATE OR REPLACE FUNCTION bsky.normal_tag(tag text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(tag) = char_length(tag)
    THEN translate(ltrim(tag, '#'), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
    ELSE translate(ltrim(tag, '#'),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚ'
      'ŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽƠƯǍǏǑǓǕǗǙǛǸǺǼǾȀȂȄȆȈȊȌȎȐȒȔȖȘȚȜȞΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫςЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБ'
      'ВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲ'
      'ӴӶӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖḀḂḄḆḈḊḌḎḐḒḔḖḘḚḜḞḠḢḤḦḨḪḬḮḰḲḴḶḸḺḼḾ'
      'ṀṂṄṆṈṊṌṎṐṒṔṖṘṚṜṞṠṢṤṦṨṪṬṮṰṲṴṶṸṺṼṾẀẂẄẆẈẊẌẎẐẒẔẞẠẢẤẦẨẪẬẮẰẲẴẶẸẺẼẾỀỂỄỆỈỊỌỎỐỒỔỖỘỚỜỞỠỢỤỦỨỪỬỮỰỲỴỶỸỺỼỾＡＢＣＤＥＦＧＨ'
      'ＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ',
      'abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřś'
      'ŝşšţťŧũūŭůűųŵŷÿźżžơưǎǐǒǔǖǘǚǜǹǻǽǿȁȃȅȇȉȋȍȏȑȓȕȗșțȝȟάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋσѐёђѓєѕіїјљњћќѝўџаб'
      'вгдежзийклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳ'
      'ӵӷӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆḁḃḅḇḉḋḍḏḑḓḕḗḙḛḝḟḡḣḥḧḩḫḭḯḱḳḵḷḹḻḽḿ'
      'ṁṃṅṇṉṋṍṏṑṓṕṗṙṛṝṟṡṣṥṧṩṫṭṯṱṳṵṷṹṻṽṿẁẃẅẇẉẋẍẏẑẓẕßạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹỻỽỿａｂｃｄｅｆｇｈ'
      'ｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ') END
$$;
COMMENT ON FUNCTION bsky.normal_tag(text) IS 'The normal form of a tag, as in bsky.posts.all_tags: without # at its beginning and in lower case (Latin, Greek, Cyrillic, Armenian and full-width letters).';

CREATE OR REPLACE FUNCTION bsky.link_host(uri text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT translate(h.host, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
  FROM substring(regexp_replace(substring(uri FROM '^[Hh][Tt][Tt][Pp][Ss]?://([^/\\?#]*)'), '^.*@', '')
                 FROM '^(\[[^]]*\]|[^:\[][^:]*)') AS h(host)
  WHERE octet_length(h.host) <= 253
$$;
COMMENT ON FUNCTION bsky.link_host(text) IS 'The host of an http or https URL, as in bsky.posts.link_hosts: in lower case, without user, password and port. Null if the URL has no host.';
