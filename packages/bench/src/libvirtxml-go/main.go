// Writes and reads a domain with the library that KubeVirt's ecosystem uses for it, and prints what that costs.
package main

import (
	"encoding/json"
	"os"
	"syscall"
	"time"

	"libvirt.org/go/libvirtxml"
)

type request struct {
	XML     string  `json:"xml"`
	VMI     string  `json:"vmi"`
	Seconds float64 `json:"seconds"`
}

type answer struct {
	Write float64 `json:"write"`
	Read  float64 `json:"read"`
	// The least that a converter in Go has to do: read the VMI, write the domain. What lies between costs nothing here.
	Convert float64 `json:"convert"`
}

func main() {
	var given request
	check(json.NewDecoder(os.Stdin).Decode(&given))
	var domain libvirtxml.Domain
	check(domain.Unmarshal(given.XML))
	write := measure(given.Seconds, func() {
		_, err := domain.Marshal()
		check(err)
	})
	read := measure(given.Seconds, func() {
		var fresh libvirtxml.Domain
		check(fresh.Unmarshal(given.XML))
	})
	convert := measure(given.Seconds, func() {
		var vmi map[string]any
		check(json.Unmarshal([]byte(given.VMI), &vmi))
		_, err := domain.Marshal()
		check(err)
	})
	check(json.NewEncoder(os.Stdout).Encode(answer{Write: write, Read: read, Convert: convert}))
}

// The least CPU time of a call in nanoseconds, garbage collection included, over many short rounds.
func measure(seconds float64, task func()) float64 {
	const calls = 50
	best := 1e18
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		before := cpu()
		for range calls {
			task()
		}
		best = min(best, float64(cpu()-before)/calls)
	}
	return best
}

func cpu() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
