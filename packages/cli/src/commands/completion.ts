import type { Command, CommandEntry } from "../command.ts";
import { errors } from "../errors.ts";

/** Takes the list of commands, because it is itself one of them. */
export const completionFor = (entries: readonly CommandEntry[]): Command => ({
  usage: "usage: polyvirt completion bash|zsh",
  completions: ["bash", "zsh"],
  async run(args, context) {
    const [shell] = args;
    if (shell !== "bash" && shell !== "zsh") throw errors.CliUsage("name the shell: bash or zsh");
    // zsh understands bash's completion through this one function.
    if (shell === "zsh") context.stdout.write("autoload -U +X bashcompinit && bashcompinit\n");
    context.stdout.write(await bashCompletion(entries));
    return 0;
  },
});

async function bashCompletion(entries: readonly CommandEntry[]): Promise<string> {
  const cases = await Promise.all(
    entries.map(async (entry) => `    ${entry.name}) words="${(await entry.load()).completions?.join(" ") ?? ""}" ;;`),
  );
  return [
    "_polyvirt() {",
    '  local words=""',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    "  esac",
    `  if [ "$COMP_CWORD" = 1 ]; then words="${[...entries.map(({ name }) => name), "test", "help"].join(" ")}"; fi`,
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -F _polyvirt polyvirt ./polyvirt",
    "",
  ].join("\n");
}
