// Oracle answers what Kubernetes' own CEL says about expressions: one JSON object a line on standard input,
// {"expr": "…", "vars": {…}, "types": {"x": "string"}}, and one a line on standard output with type, value or error,
// cost and estimated cost. generate/kubernetes-vectors.ts runs it over kubernetes-vectors.json.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type Req struct {
	Expr  string            `json:"expr"`
	Vars  json.RawMessage   `json:"vars"`
	Types map[string]string `json:"types"`
}
type Res struct {
	Expr   string      `json:"expr"`
	Type   string      `json:"type,omitempty"`
	Issue  string      `json:"issue,omitempty"`
	Err    string      `json:"err,omitempty"`
	Value  interface{} `json:"value,omitempty"`
	Cost   *uint64     `json:"cost,omitempty"`
	EstMin string      `json:"estMin,omitempty"`
	EstMax string      `json:"estMax,omitempty"`
}

func typ(s string) *cel.Type {
	switch s {
	case "string":
		return cel.StringType
	case "int":
		return cel.IntType
	case "bool":
		return cel.BoolType
	case "double":
		return cel.DoubleType
	case "list(string)":
		return cel.ListType(cel.StringType)
	case "list(int)":
		return cel.ListType(cel.IntType)
	case "list(dyn)":
		return cel.ListType(cel.DynType)
	case "map(string,string)":
		return cel.MapType(cel.StringType, cel.StringType)
	case "map(string,dyn)":
		return cel.MapType(cel.StringType, cel.DynType)
	case "bytes":
		return cel.BytesType
	}
	return cel.DynType
}

type sizes struct{}

func (sizes) EstimateSize(el checker.AstNode) *checker.SizeEstimate { return nil }
func (sizes) EstimateCallCost(function, overloadID string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	return nil
}

func native(v ref.Val) interface{} {
	switch t := v.(type) {
	case types.Bool:
		return bool(t)
	case types.Int:
		return map[string]string{"int": fmt.Sprint(int64(t))}
	case types.Uint:
		return map[string]string{"uint": fmt.Sprint(uint64(t))}
	case types.Double:
		f := float64(t)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return map[string]string{"double": fmt.Sprint(f)}
		}
		return map[string]interface{}{"double": f}
	case types.String:
		return string(t)
	case types.Null:
		return nil
	case types.Bytes:
		return map[string]interface{}{"bytes": []byte(t)}
	case traits.Lister:
		out := []interface{}{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			out = append(out, native(it.Next()))
		}
		return out
	case traits.Mapper:
		out := map[string]interface{}{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			out[fmt.Sprint(k.Value())] = native(t.Get(k))
		}
		return map[string]interface{}{"map": out}
	}
	return map[string]string{"other": fmt.Sprintf("%s %v", v.Type().TypeName(), v.Value())}
}

func parse(text []byte, target any) {
	if err := json.Unmarshal(text, target); err != nil {
		panic(err)
	}
}

func main() {
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	sc := bufio.NewScanner(os.Stdin)
	sc.Buffer(make([]byte, 1<<20), 1<<26)
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	for sc.Scan() {
		var kind struct {
			Schema json.RawMessage `json:"schema"`
			Policy json.RawMessage `json:"policy"`
		}
		parse(sc.Bytes(), &kind)
		if kind.Schema != nil {
			var question ruleQuestion
			parse(sc.Bytes(), &question)
			enc.Encode(answerRules(question))
			continue
		}
		if kind.Policy != nil {
			var question policyQuestion
			parse(sc.Bytes(), &question)
			enc.Encode(answerPolicy(question))
			continue
		}
		var r Req
		parse(sc.Bytes(), &r)
		out := Res{Expr: r.Expr}
		vars := map[string]interface{}{}
		if len(r.Vars) > 0 {
			if err := utiljson.Unmarshal(r.Vars, &vars); err != nil {
				panic(err)
			}
		}
		opts := []cel.EnvOption{}
		for k := range vars {
			opts = append(opts, cel.Variable(k, typ(r.Types[k])))
		}
		es, err := base.Extend(environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: opts})
		if err != nil {
			panic(err)
		}
		env := es.StoredExpressionsEnv()
		ast, iss := env.Compile(r.Expr)
		if iss.Err() != nil {
			out.Issue = iss.String()
			enc.Encode(out)
			continue
		}
		out.Type = ast.OutputType().String()
		est, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: sizes{}})
		if err == nil {
			out.EstMin = fmt.Sprint(est.Min)
			out.EstMax = fmt.Sprint(est.Max)
		}
		prg, err := env.Program(ast, cel.InterruptCheckFrequency(100))
		if err != nil {
			out.Err = "program: " + err.Error()
			enc.Encode(out)
			continue
		}
		val, det, err := prg.ContextEval(context.Background(), vars)
		if det != nil {
			out.Cost = det.ActualCost()
		}
		if err != nil {
			out.Err = err.Error()
		} else {
			out.Value = native(val)
		}
		enc.Encode(out)
	}
}
