package reconcile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// valueText returns a value as text. Equal values give equal texts.
func valueText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // not reached: every stored value can be marshalled
	}
	return string(b)
}

// shownFields is what a history shows of a memory whose fields changed: the
// steps of a procedure, else the text.
func shownFields(m *memory.Memory) string {
	p := m.Fields.Procedural
	if p == nil {
		return m.Text
	}
	var b strings.Builder
	for i, s := range p.Steps {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%d. %s", i+1, s)
	}
	return b.String()
}

// changedFields names the fields of a memory's type that differ.
func changedFields(was, m *memory.Memory) string {
	var a, b map[string]map[string]any
	if json.Unmarshal([]byte(valueText(was.Fields)), &a) != nil || json.Unmarshal([]byte(valueText(m.Fields)), &b) != nil {
		return "its fields are otherwise"
	}
	of := string(m.Type)
	var names []string
	for _, name := range fieldNames[m.Type] {
		if valueText(a[of][name]) != valueText(b[of][name]) {
			names = append(names, strings.ReplaceAll(name, "_", " "))
		}
	}
	if len(names) == 0 {
		return "its fields are otherwise"
	}
	return strings.Join(names, ", ") + " changed"
}

// fieldNames are the fields that are shown to a person, in that order.
var fieldNames = map[memory.Type][]string{
	memory.Core:       {"block", "limit"},
	memory.Episodic:   {"event_type", "details", "actor", "place", "started", "ended"},
	memory.Semantic:   {"name", "details", "subject", "predicate", "object"},
	memory.Procedural: {"entry_type", "description", "steps"},
	memory.Resource:   {"title", "media_type", "content"},
	memory.Vault:      {"entry_type", "label"},
}
