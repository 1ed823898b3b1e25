import type { Configurator, Converter, DraftDomain } from "../contract.ts";

/** A converter that runs these configurators in order over an empty machine. */
export function createConverter(configurators: readonly Configurator[]): Converter {
  return {
    configurators,
    convert(vmi, context, onStep) {
      const domain: DraftDomain = { os: {}, devices: {} };
      for (const configurator of configurators) {
        configurator.configure(domain, vmi, context);
        onStep?.({ layer: "converter", name: configurator.name }, domain);
      }
      return domain;
    },
  };
}

/** The same list with the configurators of these names replaced where they stand, and new ones at the end. */
export function overrideConfigurators(
  base: readonly Configurator[],
  overrides: readonly Configurator[],
): readonly Configurator[] {
  const byName = new Map(overrides.map((configurator) => [configurator.name, configurator]));
  const replaced = base.map((configurator) => byName.get(configurator.name) ?? configurator);
  const known = new Set(base.map(({ name }) => name));
  return [...replaced, ...overrides.filter(({ name }) => !known.has(name))];
}
