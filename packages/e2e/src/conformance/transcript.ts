/** Makes what two servers said comparable: what differs between any two runs is replaced. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "<time>"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, "<time>"],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, "<time>"],
  [/(resourceVersion\\?"?: ?\\?)"\d+(\\?)"/g, '$1"<version>$2"'],
  [/("?continue"?: )"[\w=+/-]+"/g, '$1"<token>"'],
  [/(continue=)ey[\w%=+-]+/g, "$1<token>"],
  [/(resourceVersion=)\d{2,}/g, "$1<version>"],
  [/in record \(\d+\)/g, "in record (<version>)"],
  [/Resource Version: +\d+/g, "Resource Version: <version>"],
  [/Too large resource version: (\d+), current: \d+/g, "Too large resource version: $1, current: <version>"],
  [/https:\/\/127\.0\.0\.1:\d+/g, "<server>"],
  [/127\.0\.0\.1:\d+/g, "<address>"],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, "/tmp/$1"],
  [/\bmade-[a-z0-9]{5}\b/g, "made-<letters>"],
  [/\bkube-api-access-[a-z0-9]{5}\b/g, "kube-api-access-<letters>"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<jwt>"],
  [/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----(\\n|\n)?/g, "<certificate>"],
  [/(<certificate>)+/g, "<certificates>"],
  // A place in the other's own source.
  [/ in scheme \\?"pkg\/runtime\/scheme\.go:\d+\\?"/g, ""],
  // The order of verbs means nothing, and Kubernetes has two.
  [
    /delete,deletecollection,get,list,patch,create,update,watch/g,
    "create,delete,deletecollection,get,list,patch,update,watch",
  ],
  // Ages and the widths of columns that follow from them.
  [/(?<=\s)\d+(s|m\d*s?|h)(?=\s|$)/gm, "<age>"],
  [/"\d+s"/g, '"<age>"'],
  [/ +$/gm, ""],
  [/ {2,}(?=\S)/g, "  "],
  [/\b10\.\d+\.\d+\.\d+\b/g, "<ip>"],
  [/127\.\d+\.\d+\.\d+\b/g, "<ip>"],
];

export function comparable(entry: string): string {
  return replacements.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), entry);
}
