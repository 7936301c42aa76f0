# Turns the output of `PROGRAM COMMAND --help` into a man page.
#   -v command="skua run"    the command, as a user types it
#   -v version="skua 0.1.0"  the output of --version

function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/'/, "\\(aq", text)
  gsub(/`/, "\\(ga", text)
  sub(/^\./, "\\\\\\&.", text)
  return text
}

# "skua backfill status" is the page skua-backfill-status.
function page(words) {
  gsub(/ /, "-", words)
  return words
}

# The term begins in column 3. Its meaning begins in column 31, or is on the next line if the term is long.
function entry(line,    term, meaning) {
  if (substr(line, 30, 1) == " ") {
    term = substr(line, 3, 27)
    meaning = substr(line, 31)
  } else {
    term = substr(line, 3)
    meaning = ""
  }
  sub(/ +$/, "", term)
  if (section == "Subcommands") others[++count] = page(command " " term)
  body = body ".TP\n.B " escaped(term) "\n"
  if (meaning != "") body = body escaped(meaning) "\n"
}

function exit_code(number, meaning) {
  return ".TP\n.B " number "\n" escaped(toupper(substr(meaning, 1, 1)) substr(meaning, 2)) ".\n"
}

# Adds a line to the description. Lines that the help indents keep their form.
function add(line, is_indented) {
  if (is_indented && !in_list) text = text ".nf\n"
  if (!is_indented && in_list) text = text ".fi\n"
  in_list = is_indented
  text = text line
}

NR == 1 { summary = $0; next }
/^Usage: / { usage = substr($0, 8); next }
/^Examples?:$/ { section = "Examples"; next }
/^Exit codes:$/ { section = "Exit codes"; next }
section == "Exit codes" && /^  [0-9]+  / { status = status exit_code($1, substr($0, 6)); next }
/^[A-Z][A-Za-z, ]*:$/ {
  section = substr($0, 1, length($0) - 1)
  body = body ".SH " toupper(section == "Positionals" ? "Arguments" : section) "\n"
  next
}
section == "Examples" && /^  / { examples = examples escaped(substr($0, 3)) "\n"; next }
/^                              / { sub(/^ +/, ""); body = body escaped($0) "\n"; next }
/^  / && section != "" { entry($0); next }
/^$/ { if (text != "") add(".PP\n"); section = ""; next }
/^  / { add(escaped($0) "\n", 1); next }
{ section = ""; add(escaped($0) "\n") }

END {
  printf ".TH %s 1 \"\" \"%s\" \"User Commands\"\n", toupper(page(command)), version
  sub(/\.$/, "", summary)
  printf ".SH NAME\n%s \\- %s\n", escaped(page(command)), escaped(summary)
  printf ".SH SYNOPSIS\n.B %s\n%s\n", escaped(command), escaped(substr(usage, length(command) + 2))
  if (in_list) text = text ".fi\n"
  sub(/\.PP\n$/, "", text)
  if (text != "") printf ".SH DESCRIPTION\n%s", text
  printf "%s", body
  # A command whose help does not explain its exit codes has those of all commands.
  if (status == "") {
    status = exit_code(0, "success") exit_code(1, "failure; stderr has the reason")
    status = status exit_code(2, "the command line or a setting is wrong")
  }
  printf ".SH EXIT STATUS\n%s", status
  if (examples != "") printf ".SH EXAMPLES\n.nf\n%s.fi\n", examples
  parent = command
  if (sub(/ [^ ]*$/, "", parent)) others[++count] = page(parent)
  if (count > 0) print ".SH SEE ALSO"
  for (i = 1; i <= count; i++) printf ".BR %s (1)%s\n", escaped(others[i]), i < count ? "," : ""
}
