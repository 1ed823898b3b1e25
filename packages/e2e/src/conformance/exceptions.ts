/** Differences that are meant. Each title is a heading of docs/reference/kubernetes-differences.md, which tells users why. */
interface Exception {
  readonly title: string;
  /** Whether it explains a line that one server says (`- ` Kubernetes, `+ ` embedded) in answer to a call. */
  readonly covers: (statement: string, call: string, line: string) => boolean;
}

const inStatement =
  (pattern: RegExp, line: RegExp, call = /^/): Exception["covers"] =>
  (statement, asked, text) =>
    pattern.test(statement) && call.test(asked) && line.test(text);

export const exceptions: readonly Exception[] = [
  { title: "Kinds", covers: inStatement(/^discovery$/, /^- /, /api-(resources|versions)/) },
  {
    title: "Kinds",
    covers: inStatement(/^(describe|get-more-columns)$/, /quota|LimitRange|requested resource|exit code|^- *$/i),
  },
  { title: "Unknown paths", covers: inStatement(/^(discovery|crd-deletion)$/, /./, /^GET \/apis\//) },
  { title: "Strangers", covers: inStatement(/^forbidden$/, /./, /^GET/) },
  { title: "Services", covers: inStatement(/./, /ClusterIP +(<ip>|None)/) },
  { title: "Storage protection", covers: inStatement(/./, /Finalizers: +\[/, /describe pvc/) },
  { title: "Descriptions", covers: inStatement(/^explain$/, /./, /explain (pod|deployment)/) },
  {
    title: "Descriptions",
    covers: inStatement(/^tables$/, /"description": |"object": null|^[-+] +\],?$|"type": "integer"/),
  },
  { title: "Version", covers: inStatement(/^discovery$/, /./, /GET \/version/) },
  { title: "Items of lists", covers: inStatement(/./, /^\+ +"(kind|apiVersion)": "[^"]+",$/, /^GET/) },
  { title: "Items of lists", covers: inStatement(/^delete-many$/, /ConfigMapList/, /--raw/) },
  {
    title: "Words about what cannot be read",
    covers: inStatement(
      /^(patch-json|patch-refused|selectors|paging|malformed|immutable|crd-invalid)$/,
      /message|error|invalid|^[-+] /i,
    ),
  },
  {
    title: "The cluster's certificate authority",
    covers: (_statement, _call, line) =>
      /annotations"|kubernetes\.io\/description|"manager": "kube-(controller-manager|apiserver)"|f:metadata"/.test(
        line,
      ),
  },
];
