// Reads {"object": …, "expressions": […], "seconds": n} and prints what one evaluation and one compilation of each
// expression takes in cel-go, in nanoseconds of CPU time.
package main

import (
	"encoding/json"
	"os"
	"syscall"

	"github.com/google/cel-go/cel"
)

type input struct {
	Object      map[string]any `json:"object"`
	Expressions []string       `json:"expressions"`
	Seconds     float64        `json:"seconds"`
}

type measured struct {
	Evaluate float64 `json:"evaluate"`
	Metered  float64 `json:"metered"`
	Compile  float64 `json:"compile"`
}

// best returns the time of one call in the fastest of several rounds.
func best(seconds float64, call func()) float64 {
	count := 1
	for {
		start := cpuTime()
		for i := 0; i < count; i++ {
			call()
		}
		if cpuTime()-start > seconds*1e8 {
			break
		}
		count *= 2
	}
	fastest := 0.0
	for round := 0; round < 10; round++ {
		start := cpuTime()
		for i := 0; i < count; i++ {
			call()
		}
		each := (cpuTime() - start) / float64(count)
		if fastest == 0 || each < fastest {
			fastest = each
		}
	}
	return fastest
}

// cpuTime is what this process has used so far, in nanoseconds.
func cpuTime() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	env, err := cel.NewEnv(cel.Variable("vmi", cel.DynType))
	check(err)
	out := make([]measured, 0, len(in.Expressions))
	for _, source := range in.Expressions {
		ast, issues := env.Compile(source)
		check(issues.Err())
		plain, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
		check(err)
		metered, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost))
		check(err)
		vars := map[string]any{"vmi": in.Object}
		evaluate := func(program cel.Program) func() {
			return func() {
				_, _, err := program.Eval(vars)
				check(err)
			}
		}
		out = append(out, measured{
			Evaluate: best(in.Seconds, evaluate(plain)),
			Metered:  best(in.Seconds, evaluate(metered)),
			Compile:  best(in.Seconds, func() { env.Compile(source) }),
		})
	}
	check(json.NewEncoder(os.Stdout).Encode(out))
}
