/**
 * Kubernetes' rules for names, in its words. Each check answers with the reasons why the text is refused; none means that
 * it is fine.
 */
type NameProblems = readonly string[];

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = String.raw`${label}(\.${label})*`;
const qualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);

const rules = {
  label: {
    pattern: whole(label),
    says: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  },
  subdomain: {
    pattern: whole(subdomain),
    says: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`,
  },
  qualified: {
    pattern: whole(qualified),
    says: `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}')`,
  },
  labelValue: {
    pattern: whole(`(${qualified})?`),
    says: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${qualified})?')`,
  },
} as const;

function check(text: string, limit: number, { pattern, says }: { pattern: RegExp; says: string }): string[] {
  return [
    ...(text.length > limit ? [`must be no more than ${limit} bytes`] : []),
    ...(pattern.test(text) ? [] : [says]),
  ];
}

/** RFC 1123 label: names of namespaces, containers, volumes. */
export const checkDnsLabel = (text: string): NameProblems => check(text, 63, rules.label);

/** RFC 1123 subdomain: names of most objects. */
export const checkDnsSubdomain = (text: string): NameProblems => check(text, 253, rules.subdomain);

/** Keys of labels and annotations, resource names, finalizers: `[prefix/]name`. */
export function checkQualifiedName(text: string): NameProblems {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  const problems: string[] = [];
  if (parts.length > 2) {
    return [
      `a qualified name ${rules.qualified.says} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...checkDnsSubdomain(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  problems.push(...check(name, 63, rules.qualified).map((problem) => `name part ${problem}`));
  return problems;
}

export const checkLabelValue = (text: string): NameProblems => check(text, 63, rules.labelValue);
