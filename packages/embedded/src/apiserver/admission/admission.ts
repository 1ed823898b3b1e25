import type { ApiObject } from "../kinds/kind.ts";
import type { RequestContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionRequest {
  readonly context: RequestContext;
  readonly resource: Resource;
  readonly subresource: string;
  readonly operation: Operation;
  readonly namespace: string;
  readonly name: string;
  /** Absent when something is deleted. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Looks at a write before it happens: first everyone may change the object, then everyone may refuse it. */
export interface Admission {
  /** Returns the object to go on with. */
  mutate(request: AdmissionRequest): Promise<ApiObject>;
  /** Throws a StatusError to refuse. */
  validate(request: AdmissionRequest): Promise<void>;
}

/** Asks each in turn; a later one sees what an earlier one changed. */
export function chainAdmission(parts: readonly Partial<Admission>[]): Admission {
  return {
    async mutate(request) {
      // mutate is only called with an object: there is nothing to change in a deletion.
      let object = request.object as ApiObject;
      for (const part of parts) object = (await part.mutate?.({ ...request, object })) ?? object;
      return object;
    },
    async validate(request) {
      for (const part of parts) await part.validate?.(request);
    },
  };
}
