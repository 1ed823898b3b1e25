import type { Dialect } from "../dialect.ts";
import { Environment } from "../environment.ts";
import { authorizerLibrary } from "../lib/kubernetes/authorizer.ts";
import { formatLibrary } from "../lib/kubernetes/format.ts";
import { kubernetesListsLibrary } from "../lib/kubernetes/lists.ts";
import { cidrLibrary, ipLibrary } from "../lib/kubernetes/network.ts";
import { quantityLibrary } from "../lib/kubernetes/quantity.ts";
import { regexLibrary } from "../lib/kubernetes/regex.ts";
import { semverLibrary } from "../lib/kubernetes/semver.ts";
import { urlLibrary } from "../lib/kubernetes/url.ts";
import { listsLibrary } from "../lib/lists.ts";
import { twoVariablesLibrary } from "../lib/macro-libraries.ts";
import { optionalsLibrary } from "../lib/optionals.ts";
import { setsLibrary } from "../lib/sets.ts";
import { stringsLibrary } from "../lib/strings.ts";
import type { Library } from "../library.ts";
import type { TypeProvider } from "../type-provider.ts";
import type { Type } from "../types.ts";

/** What every expression in Kubernetes 1.36 may use. */
const libraries: readonly Library[] = [
  urlLibrary,
  regexLibrary,
  kubernetesListsLibrary,
  authorizerLibrary,
  optionalsLibrary,
  quantityLibrary,
  stringsLibrary(2),
  setsLibrary,
  ipLibrary,
  cidrLibrary,
  formatLibrary,
  twoVariablesLibrary,
  semverLibrary,
  listsLibrary,
];

export interface KubernetesEnvironmentOptions {
  readonly variables?: Readonly<Record<string, Type>>;
  readonly types?: readonly TypeProvider[];
  readonly libraries?: readonly Library[];
  readonly dialect?: Dialect;
}

/** An environment like that of a Kubernetes API server. */
export function kubernetesEnvironment(options: KubernetesEnvironmentOptions = {}): Environment {
  return base.extend(options);
}

const base = new Environment({ libraries, validateLiterals: true });
