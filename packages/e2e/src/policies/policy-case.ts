/** One question to an API server: what is installed, and what is then asked of it. */
export interface PolicyCase {
  readonly id: string;
  /** Labels of the namespace that the case has to itself. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Made in the namespace before anything else: parameters and the like. */
  readonly objects?: readonly PolicyRequest[];
  /** Policies and their bindings, or the kind with its rules. What the server says about them is part of the answer: some are refused. */
  readonly policies: readonly Installation[];
  readonly requests: readonly PolicyRequest[];
  /** What has to be found in the answer to each request, where somebody said what it should be. */
  readonly expects?: readonly RegExp[];
}

export interface Installation {
  readonly plural: string;
  readonly body: { readonly metadata: { readonly name: string }; readonly spec: object };
}

export interface PolicyRequest {
  readonly method: "POST" | "PATCH" | "DELETE";
  /** `<namespace>` stands for the namespace of the case. */
  readonly path: string;
  /** A patch is a JSON patch. */
  readonly body?: object;
  /** Whom the administrator acts for. */
  readonly user?: { readonly name: string; readonly group: string };
}

/** Where policies, bindings and definitions of kinds are made. */
export function installationPath({ plural }: Installation): string {
  const group = plural === "customresourcedefinitions" ? "apiextensions.k8s.io" : "admissionregistration.k8s.io";
  return `/apis/${group}/v1/${plural}`;
}

/** A policy with its binding, which looks at the namespace of its case only. */
export function boundPolicy(
  kind: "validating" | "mutating",
  name: string,
  { namespace, spec, binding }: { namespace: string; spec: object; binding?: object },
): Installation[] {
  const own = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  const matchResources = { ...own, ...matchResourcesOf(binding) };
  return [
    { plural: `${kind}admissionpolicies`, body: { metadata: { name }, spec } },
    {
      plural: `${kind}admissionpolicybindings`,
      body: { metadata: { name }, spec: { policyName: name, ...binding, matchResources } },
    },
  ];
}

function matchResourcesOf(binding: object | undefined): object {
  return binding !== undefined && "matchResources" in binding && typeof binding.matchResources === "object"
    ? (binding.matchResources ?? {})
    : {};
}
