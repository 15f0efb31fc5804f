// Recognizes commands that only show something, such as `kubectl get` and `journalctl`. They are frequent, and their success says
// nothing about work done.

/** A longer command may do anything, so it never counts as only showing something. In UTF-16 units. */
const MAX_LENGTH = 400;
/** Signs that a command writes or deletes files, or runs other programs or their output. */
const ACTS =
  /(?<![\d&])>(?!&\d)|\b(?:xargs|tee|sh|bash|zsh|python3?|node|eval|exec|sudo -i)\b|\s-(?:delete|out)\b|\$\(|`/;
const PARTS = /&&|\|\|?|[;\n]/;
/** What may precede the program. */
const LEADING = /^(?:sudo|time|timeout \S+|\w+=\S*)\s+/;
const PROGRAM =
  /^(?:cd|pwd|echo|true|journalctl|dmesg|ps|top|df|du|free|uptime|whoami|id|env|printenv|date|hostname|uname|which|lsof|netstat|ss|ping|dig|nslookup|nmap|stat|file|wc|tree|ls|cat|head|tail|less|grep|rg|sort|uniq|cut|column|jq|yq|xxd|hexdump|strings|readelf|objdump|ifconfig|history|sleep)(?=\s|$)/;
/** The same on Windows, where case does not matter. By convention, the verb of a PowerShell command tells what it does. */
const WINDOWS_PROGRAM =
  /^(?:(?:get|select|test|resolve|convertto|convertfrom)-\w+|(?:measure|sort|where|compare)-object|format-(?:table|list|hex)|(?:split|join)-path|write-(?:output|host)|out-string|(?:set|push|pop)-location|dir|type|more|findstr|where|ver|tasklist|systeminfo|gci|gc)(?=\s|$)/i;
/** A program with a subcommand that only shows something. Options (some with a value) and a cloud's resource names may come between. */
const SHOWN =
  /^(?:(?:git|kubectl|oc|helm|terraform|systemctl|npm|pnpm|yarn|pip3?|cargo|go|brew|apt|docker|podman|flyctl|fly)|(?:docker|podman) (?:compose|container|image|volume|network)|(?:kubectl|oc) rollout|(?:gh|aws|gcloud|az)(?: [\w-]+){1,2}?)\s(?:-{1,2}\S+\s+(?:[^-\s]\S*\s+)?)*(?:get|describe|(?:get|describe|list|ls)-\S+|list|logs?|status|ls|show|diff|blame|reflog|ps|top|inspect|info|version|events|view|plan|search|outdated|history|images)(?=\s|$)/;

/** A `curl` call without options that send data, choose another method or write a file. */
const REQUEST =
  /^curl\s(?!(?:.*\s)?-(?:\w*[XdFToOK]|-(?:data|request|form|upload|json|output|remote|config)))/;
/** A read-only database query. A `select` must have a `from`, because a function call alone may change something. */
const QUERY =
  /^(?:psql|mysql|mariadb|sqlite3|duckdb)\s.*["'](?:\\d|\.(?:schema|tables)\b|\s{0,4}(?:explain|show|describe|select\s.*\sfrom)\s)/i;
const CHANGES =
  /\b(?:insert|update|delete|drop|alter|create|truncate|into|copy|call|set|do|vacuum|reindex|grant|revoke|refresh|merge|kill|load|attach)\b|\b(?:pg_(?:terminate|cancel|reload|rotate|advisory|replication|create|drop|switch)\w*|nextval|setval|dblink_exec|lo_\w+|cron\.\w+)\s*\(|\s(?:-f|--file)\b/i;

/** Whether a command only shows something. */
export function onlyShowsByCommand(command: string): boolean {
  if (command.length > MAX_LENGTH || ACTS.test(command)) return false;
  return command.split(PARTS).every((part) => {
    const run = part.trim().replace(LEADING, '');
    const asks = REQUEST.test(run) || (QUERY.test(run) && !CHANGES.test(run));
    return run === '' || asks || PROGRAM.test(run) || WINDOWS_PROGRAM.test(run) || SHOWN.test(run);
  });
}
