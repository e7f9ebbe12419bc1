// Package filter chooses memories and utterances by their fields.
//
// The words:
//
//   - A [Filter] is a tree of AND, OR and NOT over conditions.
//   - A condition compares one field with one or more values by an [Op].
//   - A field is one of the names in [Fields], or "metadata." and a key.
//   - An [Item] is what a filter is applied to: a memory, or an utterance.
//
// A filter has two spellings, which mean the same: JSON, as programs send it,
//
//	{"AND": [{"type": {"in": ["semantic", "core"]}}, {"NOT": {"tags": "work"}}]}
//
// and a line, as a person writes it:
//
//	type in (semantic, core) and not tags = work
//
// In JSON, an object with several fields is their AND, and a bare value means equality, as in
// Mem0's filters. The package is pure: it reads nothing, and the same item gives the same answer.
package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// Limits on filters from outside.
const (
	MaxDepth      = 16   // nesting of AND, OR and NOT
	MaxConditions = 256  // in one filter
	MaxValues     = 1000 // of one "in"
)

// Filter selects items. The zero Filter selects all. Filters don't change, and may be used
// concurrently.
type Filter struct{ root node }

// Item is what a filter is applied to. One of Memory and Utterance is set.
type Item struct {
	Memory     *memory.Memory
	Utterance  *memory.Utterance
	Categories func() []string // of Memory, as its owner sorts it; called only if a filter needs them; nil: it has none
}

// IsZero reports whether f selects everything. It makes encoding/json leave the field out under
// omitzero.
func (f Filter) IsZero() bool { return f.root == nil }

// Match reports whether f selects the item. A field that an item does not have
// fulfils no comparison: neither "place = home" nor "place > home". It does
// fulfil the negations "place != home" and "not place = home".
func (f Filter) Match(it *Item) bool { return f.root == nil || f.root.match(it) }

// Needs reports whether f uses a field other than those given.
func (f Filter) Needs(beside ...string) bool { return f.root != nil && needs(f.root, beside) }

func needs(n node, beside []string) bool {
	among := func(list []node) bool {
		return slices.ContainsFunc(list, func(n node) bool { return needs(n, beside) })
	}
	switch n := n.(type) {
	case all:
		return among(n)
	case anyOf:
		return among(n)
	case negate:
		return needs(n.node, beside)
	case *condition:
		return !slices.Contains(beside, n.name)
	}
	return true // a caller's own rule
}

// String returns the filter as a line, in the canonical spelling that [Parse] reads to the same
// filter. The zero filter is the empty line.
func (f Filter) String() string {
	if f.root == nil {
		return ""
	}
	var b strings.Builder
	f.root.write(&b, 0)
	return b.String()
}

// Parts returns the filters of which f is the AND: only f itself if it is not an AND, nothing if it
// is zero.
func (f Filter) Parts() []Filter {
	list, ok := f.root.(all)
	if !ok {
		if f.root == nil {
			return nil
		}
		return []Filter{f}
	}
	var out []Filter
	for _, n := range list {
		out = append(out, Filter{n}.Parts()...)
	}
	return out
}

// Operand returns the line of f for use between two "and": with parentheses if f is an OR.
func (f Filter) Operand() string {
	if f.root == nil {
		return ""
	}
	var b strings.Builder
	f.root.write(&b, 2)
	return b.String()
}

// Condition returns the field, comparison and values of a filter that is one condition; ok is false
// for any other filter.
func (f Filter) Condition() (field string, op Op, values []string, ok bool) {
	c, ok := f.root.(*condition)
	if !ok {
		return "", "", nil, false
	}
	return c.name, c.op, slices.Clone(c.words), true
}

// Only makes a filter from the caller's own rule. It has no form in JSON.
func Only(rule func(*Item) bool) Filter { return Glanced(rule, nil) }

// Glanced is Only with a second rule, glance, that predicts the result of rule from what an index
// knows about an item; nil means that it can't.
func Glanced(rule func(*Item) bool, glance func(Brief) Verdict) Filter {
	return Filter{predicate{rule, glance}}
}

type predicate struct {
	rule   func(*Item) bool
	glance func(Brief) Verdict
}

func (p predicate) match(it *Item) bool             { return p.rule(it) }
func (p predicate) write(b *strings.Builder, _ int) { b.WriteString("(a rule)") }
func (p predicate) json() any                       { return nil }

// All returns the filter that selects what all of the given filters select.
func All(filters ...Filter) Filter {
	var list all
	for _, f := range filters {
		if f.root != nil {
			list = append(list, f.root)
		}
	}
	switch len(list) {
	case 0:
		return Filter{}
	case 1:
		return Filter{list[0]}
	}
	return Filter{list}
}

// Equal returns the filter for one field and one value: "tags", "work". The error wraps
// [memory.ErrInvalid].
func Equal(field, value string) (Filter, error) {
	c, err := newCondition(field, field, OpEqual, []string{value}, nil)
	if err != nil {
		return Filter{}, err
	}
	return Filter{c}, nil
}

// node is a part of the tree. The depth says how tightly the operators around it bind when it is
// written as a line: 0 nothing, 1 or, 2 and, 3 not.
type node interface {
	match(*Item) bool
	write(b *strings.Builder, binds int)
	json() any
}

type (
	all    []node
	anyOf  []node
	negate struct{ node }
)

func (n all) match(it *Item) bool {
	return !slices.ContainsFunc(n, func(p node) bool { return !p.match(it) })
}

func (n anyOf) match(it *Item) bool {
	return slices.ContainsFunc(n, func(p node) bool { return p.match(it) })
}

func (n negate) match(it *Item) bool { return !n.node.match(it) }

func (n all) write(b *strings.Builder, binds int)   { join(b, n, " and ", 2, binds) }
func (n anyOf) write(b *strings.Builder, binds int) { join(b, n, " or ", 1, binds) }

func join(b *strings.Builder, list []node, word string, own, binds int) {
	if own <= binds {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	for i, p := range list {
		if i > 0 {
			b.WriteString(word)
		}
		p.write(b, own)
	}
}

func (n negate) write(b *strings.Builder, _ int) {
	b.WriteString("not ")
	n.node.write(b, 3)
}

// invalid returns an error for a place in a filter: "filters.AND[1].tpye".
func invalid(place, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", memory.ErrInvalid, place, fmt.Sprintf(format, args...))
}
