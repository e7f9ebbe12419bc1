package filter

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Op is how a condition compares.
type Op string

// The comparisons. For a field with several values, it is enough that one fits; Not equal and Not
// in require that none is equal.
const (
	OpEqual        Op = "eq"
	OpNotEqual     Op = "ne"
	OpIn           Op = "in"
	OpNotIn        Op = "nin"
	OpGreater      Op = "gt"
	OpGreaterEqual Op = "gte"
	OpLess         Op = "lt"
	OpLessEqual    Op = "lte"
	OpContains     Op = "contains"  // a part of a text, case-sensitive
	OpIContains    Op = "icontains" // a part of a text, ignoring case
	OpExists       Op = "exists"    // it has a value (true), or none (false)
)

// opWords are the spellings in the line; the JSON spelling is accepted too.
var opWords = map[Op]string{
	OpEqual: "=", OpNotEqual: "!=", OpIn: "in", OpNotIn: "not in", OpGreater: ">", OpGreaterEqual: ">=",
	OpLess: "<", OpLessEqual: "<=", OpContains: "contains", OpIContains: "icontains", OpExists: "exists",
}

// condition compares one field.
type condition struct {
	name  string
	field field
	op    Op
	want  []value  // exists: one value, number 1 or 0
	words []string // want, as it was written
}

// newCondition checks the words against the field's kind. Errors name the
// place. zone is for dates without one; nil: UTC.
func newCondition(place, called string, op Op, words []string, zone *time.Location) (*condition, error) {
	f, ok := lookup(called)
	if !ok {
		return nil, invalid(place, "not a field%s", nearest(called))
	}
	if _, ok := opWords[op]; !ok {
		return nil, invalid(place, "%q is not a comparison: want eq, ne, in, nin, gt, gte, lt, lte, contains, icontains or exists", op)
	}
	switch op {
	case OpGreater, OpGreaterEqual, OpLess, OpLessEqual:
		if f.kind == flag || f.only != nil && f.kind != scale {
			return nil, invalid(place, "has no order, so it can't be compared with %s", op)
		}
	case OpContains, OpIContains:
		if f.kind != name && f.kind != exact {
			return nil, invalid(place, "is not a text, so it can't be compared with %s", op)
		}
	}
	switch list := op == OpIn || op == OpNotIn; {
	case list && len(words) == 0:
		return nil, invalid(place, "%s of nothing", op)
	case len(words) > MaxValues:
		return nil, invalid(place, "%d values, at most %d", len(words), MaxValues)
	case !list && len(words) != 1:
		return nil, invalid(place, "%s takes one value", op)
	}
	c := &condition{name: called, field: f, op: op}
	for _, w := range words {
		v, err := c.read(place, w, zone)
		if err != nil {
			return nil, err
		}
		if !v.moment.IsZero() {
			w = v.moment.Format(time.RFC3339Nano) // so that it means the same in every zone
		}
		c.want, c.words = append(c.want, v), append(c.words, w)
	}
	return c, nil
}

// read parses a value.
func (c *condition) read(place, w string, zone *time.Location) (value, error) {
	k := c.field.kind
	if c.op == OpExists {
		k = flag
	}
	switch k {
	case number:
		n, err := strconv.ParseFloat(w, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return value{}, invalid(place, "%q is not a number", w)
		}
		return value{number: n}, nil
	case moment:
		t, ok := readMoment(w, zone)
		if !ok {
			return value{}, invalid(place, "%q is not a time: want 2026-03-01 or 2026-03-01T14:30:00Z", w)
		}
		return value{moment: t}, nil
	case flag:
		if w != "true" && w != "false" {
			return value{}, invalid(place, "%q: want true or false", w)
		}
		return truth(w == "true")[0], nil
	}
	if c.op == OpContains || c.op == OpIContains {
		if w == "" {
			return value{}, invalid(place, "%s of nothing", c.op)
		}
		return value{text: w}, nil
	}
	i := slices.Index(c.field.only, w)
	if c.field.only != nil && i < 0 {
		return value{}, invalid(place, "%q: want %s", w, strings.Join(c.field.only, ", "))
	}
	return value{text: w, number: float64(i)}, nil
}

func readMoment(s string, zone *time.Location) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	zone = cmp.Or(zone, time.UTC)
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func (c *condition) match(it *Item) bool {
	have := c.field.of(it)
	switch c.op {
	case OpExists:
		return (len(have) > 0) == (c.want[0].number == 1)
	case OpNotEqual, OpNotIn:
		return !slices.ContainsFunc(have, c.among)
	case OpEqual, OpIn:
		return slices.ContainsFunc(have, c.among)
	}
	return slices.ContainsFunc(have, c.fits)
}

// among reports whether a value is one of the wanted ones.
func (c *condition) among(h value) bool {
	return slices.ContainsFunc(c.want, func(w value) bool {
		if c.field.kind == name {
			return strings.EqualFold(h.text, w.text)
		}
		return c.compare(h, w) == 0
	})
}

func (c *condition) fits(h value) bool {
	w := c.want[0]
	switch c.op {
	case OpContains:
		return strings.Contains(h.text, w.text)
	case OpIContains:
		return strings.Contains(strings.ToLower(h.text), strings.ToLower(w.text))
	}
	switch d := c.compare(h, w); c.op {
	case OpGreater:
		return d > 0
	case OpGreaterEqual:
		return d >= 0
	case OpLess:
		return d < 0
	default:
		return d <= 0
	}
}

// compare orders two values of the field's kind. Two metadata values are compared as numbers if
// both are numbers, as times if both are times, else by bytes.
func (c *condition) compare(a, b value) int {
	switch c.field.kind {
	case number, flag, scale:
		return cmp.Compare(a.number, b.number)
	case moment:
		return a.moment.Compare(b.moment)
	case name:
		return cmp.Compare(strings.ToLower(a.text), strings.ToLower(b.text))
	}
	if c.op != OpEqual && c.op != OpNotEqual && c.op != OpIn && c.op != OpNotIn {
		x, errX := strconv.ParseFloat(a.text, 64)
		y, errY := strconv.ParseFloat(b.text, 64)
		if errX == nil && errY == nil && !math.IsNaN(x) && !math.IsNaN(y) {
			return cmp.Compare(x, y)
		}
		s, okS := readMoment(a.text, nil)
		t, okT := readMoment(b.text, nil)
		if okS && okT {
			return s.Compare(t)
		}
	}
	return cmp.Compare(a.text, b.text)
}

// nearest suggests a field with a similar spelling, or returns "".
func nearest(s string) string {
	for _, f := range Fields() {
		if strings.HasPrefix(f, strings.ToLower(s)) || strings.HasPrefix(strings.ToLower(s), f) || sameLetters(f, s) {
			return "; did you mean " + f + "?"
		}
	}
	return "; they are " + strings.Join(Fields(), ", ") + " and metadata.KEY"
}

// sameLetters reports whether two words differ only in the order of letters.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}
