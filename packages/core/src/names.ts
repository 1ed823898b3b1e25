/**
 * Kubernetes' rules for names. Each check answers with the reasons why the text is refused; none means that it is fine.
 */
type NameProblems = readonly string[];

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** RFC 1123 label: names of namespaces, containers, volumes. */
export function checkDnsLabel(text: string): NameProblems {
  const problems: string[] = [];
  if (text.length > 63) problems.push("must be no more than 63 characters");
  if (!DNS_LABEL.test(text)) {
    problems.push(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name', or '123-abc')",
    );
  }
  return problems;
}

/** RFC 1123 subdomain: names of most objects. */
export function checkDnsSubdomain(text: string): NameProblems {
  const problems: string[] = [];
  if (text.length > 253) problems.push("must be no more than 253 characters");
  if (!DNS_SUBDOMAIN.test(text)) {
    problems.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')",
    );
  }
  return problems;
}

/** Keys of labels and annotations, resource names, finalizers: `[prefix/]name`. */
export function checkQualifiedName(text: string): NameProblems {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  const problems: string[] = [];
  if (parts.length > 2) {
    return [
      "a qualified name must consist of an optional DNS subdomain prefix and a name, separated by one '/' (e.g. 'example.com/MyName')",
    ];
  }
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...checkDnsSubdomain(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > 63) problems.push("name part must be no more than 63 characters");
  if (!QUALIFIED_NAME.test(name)) {
    problems.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName', or 'my.name', or '123-abc')",
    );
  }
  return problems;
}

export function checkLabelValue(text: string): NameProblems {
  if (text === "") return [];
  const problems: string[] = [];
  if (text.length > 63) problems.push("must be no more than 63 characters");
  if (!QUALIFIED_NAME.test(text)) {
    problems.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue', or 'my_value', or '12345')",
    );
  }
  return problems;
}
