package store

import "github.com/locket-dev/locket/memory"

// GroupAssertions returns all assertions about the memories that are reconciled
// with each other under a key (see [memory.Candidate.Group]), by memory, then
// by dot.
func (t *Tx) GroupAssertions(key string) ([]memory.Assertion, error) {
	g, err := t.group(key)
	if err != nil {
		return nil, err
	}
	var all []memory.Assertion
	for _, id := range sortedIDs(g.assertions) {
		all = append(all, g.assertions[id]...)
	}
	return all, nil
}
