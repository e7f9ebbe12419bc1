package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// Parse reads an answer. An error tells the model what is wrong with the answer as a whole; [Rule]
// checks the single operations.
func Parse(b []byte) ([]Operation, error) {
	var answer struct {
		Operations *[]Operation `json:"operations"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("%s: a %s where %s is wanted", t.Field, t.Value, t.Type)
		}
		return nil, errors.New("it is not JSON")
	}
	if answer.Operations == nil {
		return nil, errors.New("operations is missing")
	}
	ops := *answer.Operations
	if len(ops) > maxOps {
		return nil, fmt.Errorf("%d operations, at most %d", len(ops), maxOps)
	}
	for i, o := range ops {
		if !slices.Contains([]memory.Verdict{memory.Add, memory.Update, memory.Delete, memory.Noop}, o.Op) {
			return nil, fmt.Errorf("operations[%d].op: not ADD, UPDATE, DELETE or NOOP", i)
		}
	}
	return ops, nil
}
