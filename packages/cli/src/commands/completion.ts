import type { Command } from "../command.ts";
import { errors } from "../errors.ts";

/** Takes the list of commands late, because it is itself one of them. */
export const completionFor = (listCommands: () => readonly Command[]): Command => ({
  name: "completion",
  summary: "Print shell completion: source <(polyvirt completion bash)",
  usage: "usage: polyvirt completion bash|zsh",
  completions: ["bash", "zsh"],
  async run(args, context) {
    const [shell] = args;
    if (shell !== "bash" && shell !== "zsh") throw errors.CliUsage("name the shell: bash or zsh");
    // zsh understands bash's completion through this one function.
    if (shell === "zsh") context.stdout.write("autoload -U +X bashcompinit && bashcompinit\n");
    context.stdout.write(bashCompletion(listCommands()));
    return 0;
  },
});

function bashCompletion(commands: readonly Command[]): string {
  const cases = commands
    .filter((command) => command.completions !== undefined)
    .map((command) => `    ${command.name}) words="${command.completions?.join(" ")}" ;;`);
  return [
    "_polyvirt() {",
    '  local words=""',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    "  esac",
    `  if [ "$COMP_CWORD" = 1 ]; then words="${[...commands.map((command) => command.name), "test", "help"].join(" ")}"; fi`,
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -F _polyvirt polyvirt ./polyvirt",
    "",
  ].join("\n");
}
