import {
  applyJsonPatch,
  diffJson,
  formatPointer,
  parsePointer,
  resolvePointer,
  type JsonPatchOperation,
} from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { Domain } from "../gen/domain.ts";
import { domainElement, elementModel, type ElementModel, type PropertyModel } from "./element-model.ts";

// Paths are JSON pointers. Domain hooks see the domain as `spec` of an object, so both `/spec/devices/disks/0` and
// `/devices/disks/0` name the first disk; the domain has no property of that name.
const hookPrefix = "/spec";

function withoutPrefix(path: string): string {
  if (path === hookPrefix) return "";
  return path.startsWith(`${hookPrefix}/`) ? path.slice(hookPrefix.length) : path;
}

/** The value at a path, or undefined when there is none. */
export function getDomainValue(domain: Domain, path: string): unknown {
  return resolvePointer(domain, withoutPrefix(path));
}

/**
 * A copy of the domain with the value at the path, where lists end with `-` for "one more". Objects and lists on the
 * way there are made as needed. Throws `DomainPathUnknown` for a path that the model does not have.
 */
export function setDomainValue(domain: Domain, path: string, value: unknown): Domain {
  const parts = parsePointer(withoutPrefix(path));
  const places = placesAlong(parts, path);
  const patch: JsonPatchOperation[] = [];
  for (let length = 1; length < parts.length; length += 1) {
    if (resolvePointer(domain, parts.slice(0, length)) !== undefined) continue;
    patch.push({
      op: "add",
      path: formatPointer(parts.slice(0, length)),
      value: places[length - 1] === "list" ? [] : {},
    });
  }
  const replaces = typeof parts.at(-1) === "string" && resolvePointer(domain, parts) !== undefined;
  patch.push({ op: replaces ? "replace" : "add", path: formatPointer(parts), value });
  return applyJsonPatch(domain, patch);
}

/** Applies a JSON patch to a copy; its paths may begin with `/spec`. What comes out is for `validateDomain` to judge. */
export function patchDomain(domain: Domain, patch: readonly JsonPatchOperation[]): Domain {
  return applyJsonPatch(
    domain,
    patch.map((operation) => {
      const path = withoutPrefix(operation.path);
      return "from" in operation ? { ...operation, path, from: withoutPrefix(operation.from) } : { ...operation, path };
    }),
  );
}

/** The JSON patch that turns one domain into the other, with paths as domain hooks write them: `/spec/…`. */
export function diffDomains(from: Domain, to: Domain): JsonPatchOperation[] {
  return diffJson(from, to).map((operation) => {
    const path = hookPrefix + operation.path;
    return "from" in operation ? { ...operation, path, from: hookPrefix + operation.from } : { ...operation, path };
  });
}

/** Throws `DomainPathUnknown` unless the model has such a path; it says what there is instead. */
export function checkDomainPath(path: string): void {
  placesAlong(parsePointer(withoutPrefix(path)), path);
}

type Place = "list" | "object" | "value";

/** What each part of a path leads to. */
function placesAlong(parts: readonly string[], path: string): Place[] {
  const places: Place[] = [];
  let model: ElementModel | undefined = elementModel(domainElement);
  let items: PropertyModel | undefined;
  for (const [index, part] of parts.entries()) {
    // Below $elements and the like anything may be.
    if (part.startsWith("$") && items === undefined) return [...places, part === "$elements" ? "list" : "object"];
    if (items !== undefined) {
      if (!/^(?:-|0|[1-9][0-9]*)$/.test(part)) {
        throw unknownPath(path, `${formatPointer(parts.slice(0, index))} is a list, ${part} is not a place in it`);
      }
      model = objectModel(items.element);
      items = undefined;
      places.push(model === undefined ? "value" : "object");
      continue;
    }
    const property: PropertyModel | undefined = model?.properties.get(part);
    if (model === undefined || property === undefined) {
      const names = [...(model?.properties.keys() ?? [])].sort();
      const choices = names.length === 0 ? "nothing" : names.join(", ");
      throw unknownPath(path, `below ${formatPointer(parts.slice(0, index)) || "the domain"} there is ${choices}`);
    }
    items = property.kind === "list" ? property : undefined;
    model = property.kind === "child" ? objectModel(property.element) : undefined;
    places.push(items !== undefined ? "list" : model === undefined ? "value" : "object");
  }
  return places;
}

/** The model of an element that is more than a plain value. */
function objectModel(element: number): ElementModel | undefined {
  const model = elementModel(element);
  return model.scalar ? undefined : model;
}

function unknownPath(path: string, why: string): Error {
  return errors.DomainPathUnknown(`find ${path} in the domain model: ${why}`, { fields: { path } });
}
