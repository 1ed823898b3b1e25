import type { ModelType, ScalarType } from "./model.ts";
import { isScalar } from "./naming.ts";

/** Writes the model as TypeScript interfaces. */
export function emitTypes(types: readonly ModelType[], header: string): string {
  const lines = [header, 'import type { DomainExtras, Integer, Open } from "../model/domain-extras.ts";', ""];
  for (const type of types) {
    if (isScalar(type.element) || isMarker(type)) continue;
    lines.push(`/** \`<${type.element.name}>\` */`, `export interface ${type.typeName} extends DomainExtras {`);
    for (const attribute of type.attributes) lines.push(field(attribute.property, scalar(attribute.scalar)));
    if (type.text !== undefined) lines.push("  /** The element's text. */", field("value", scalar(type.text)));
    for (const child of type.children) {
      const own = typeOfChild(child.type);
      lines.push(field(child.property, child.repeated ? array(own) : own));
    }
    lines.push("}", "");
  }
  return lines.join("\n");
}

/** An element that says something by being there. */
function isMarker(type: ModelType): boolean {
  return type.attributes.length === 0 && type.children.length === 0 && type.text === undefined;
}

function typeOfChild(type: ModelType): string {
  if (isMarker(type)) return "DomainExtras";
  return type.text !== undefined && isScalar(type.element) ? scalar(type.text) : type.typeName;
}

function field(property: string, type: string): string {
  return `  ${property}?: ${type} | undefined;`;
}

function array(type: string): string {
  return /[ |]/.test(type) ? `(${type})[]` : `${type}[]`;
}

function scalar({ integer, values, open }: ScalarType): string {
  if (integer) return "Integer";
  if (values.length === 0) return "string";
  if (open || values.length > 60) return "string";
  return `Open<${values.map((value) => JSON.stringify(value)).join(" | ")}>`;
}
