package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// expr is a condition. It is true or false for any input; no condition can fail.
type expr interface {
	holds(r *Request, it *Item) bool
	words() string
}

type both struct{ a, b expr }   // &&
type either struct{ a, b expr } // ||
type not struct{ e expr }
type always bool
type group struct{ expr } // in parentheses

func (e both) holds(r *Request, it *Item) bool   { return e.a.holds(r, it) && e.b.holds(r, it) }
func (e either) holds(r *Request, it *Item) bool { return e.a.holds(r, it) || e.b.holds(r, it) }
func (e not) holds(r *Request, it *Item) bool    { return !e.e.holds(r, it) }
func (e always) holds(*Request, *Item) bool      { return bool(e) }

func (e both) words() string   { return e.a.words() + " and " + e.b.words() }
func (e either) words() string { return "(" + e.a.words() + " or " + e.b.words() + ")" }
func (e not) words() string    { return "it is not so that (" + e.e.words() + ")" }
func (e always) words() string {
	if e {
		return "always"
	}
	return "never"
}

// field is a text of the memory or of the request.
type field string

const (
	fieldType    field = "resource.type"
	fieldPurpose field = "context.purpose"
)

func (f field) of(r *Request, it *Item) string {
	if f == fieldType {
		return it.Type
	}
	return r.Purpose
}

func (f field) words() string {
	if f == fieldType {
		return "the type"
	}
	return "the purpose"
}

// oneOf is ["a", "b"].contains(field), or field == "a".
type oneOf struct {
	field field
	list  []string
}

func (e oneOf) holds(r *Request, it *Item) bool { return slices.Contains(e.list, e.field.of(r, it)) }
func (e oneOf) words() string                   { return e.field.words() + " is " + list(e.list, "or") }

// set is a list of texts of the memory.
type set string

func (s set) of(it *Item) []string {
	switch s {
	case "tags":
		return it.Tags
	case "entities":
		return it.Entities
	}
	return it.Places
}

// has is resource.tags.containsAny([...]), containsAll or contains.
type has struct {
	set  set
	all  bool
	list []string
}

func (e has) holds(_ *Request, it *Item) bool {
	in := func(s string) bool { return slices.Contains(e.set.of(it), s) }
	if e.all {
		return !slices.ContainsFunc(e.list, func(s string) bool { return !in(s) })
	}
	return slices.ContainsFunc(e.list, in)
}

func (e has) words() string {
	what := map[set]string{"tags": "it is tagged ", "entities": "it names ", "places": "it is about the place "}[e.set]
	if e.all {
		return what + list(e.list, "and")
	}
	return what + list(e.list, "or")
}

// compare compares a value of a memory or request with the value in a rule.
type compare struct {
	what string // sensitivity, learnt or now
	op   string
	n    int64 // a sensitivity, or milliseconds since 1970, as Cedar counts
}

func (e compare) holds(r *Request, it *Item) bool {
	v := int64(it.Sensitivity)
	switch e.what {
	case "learnt":
		v = it.Learnt.UnixMilli()
	case "now":
		v = r.Now.UnixMilli()
	}
	switch e.op {
	case "<":
		return v < e.n
	case "<=":
		return v <= e.n
	case ">":
		return v > e.n
	case ">=":
		return v >= e.n
	case "!=":
		return v != e.n
	}
	return v == e.n
}

func (e compare) words() string {
	if e.what == "sensitivity" {
		op := map[string]string{"<": "less than ", "<=": "at most ", ">": "more than ", ">=": "at least ", "!=": "other than ", "==": ""}[e.op]
		b, err := memory.Sensitivity(e.n).MarshalText()
		if err != nil || e.n < 0 || e.n > int64(memory.Secret) {
			b = []byte("no sensitivity that there is")
		}
		return "its sensitivity is " + op + string(b)
	}
	at := time.UnixMilli(e.n).UTC()
	text := at.Format("2006-01-02 15:04:05 UTC")
	if at.Equal(at.Truncate(24 * time.Hour)) {
		text = at.Format("2006-01-02")
	}
	subject := map[string]string{"learnt": "it was learnt ", "now": "it is "}[e.what]
	return subject + map[string]string{"<": "before ", "<=": "at the latest ", ">": "after ", ">=": "no earlier than ", "!=": "at another time than ", "==": "exactly at "}[e.op] + text
}

// Span describes a duration of whole hours in words.
func Span(d time.Duration) string {
	n, unit := int(d/time.Hour), "hour"
	if n%24 == 0 {
		n, unit = n/24, "day"
	}
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}

func list(of []string, join string) string {
	quoted := make([]string, len(of))
	for i, s := range of {
		quoted[i] = "“" + s + "”"
	}
	switch len(quoted) {
	case 0:
		return "none"
	case 1:
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " " + join + " " + quoted[len(quoted)-1]
}

// Words describes a rule in plain words.
func (r *Rule) Words() string {
	who := "Anybody"
	switch {
	case r.Who != "":
		who = "The " + strings.ToLower(string(r.Kind)) + " “" + r.Who + "”"
	case r.Kind == Buyer:
		who = "Anybody who pays"
	case r.Kind != "":
		who = "Any " + strings.ToLower(string(r.Kind))
	}
	verbs := map[Action]string{Share: "be given", Feed: "be fed", Read: "read", Sell: "buy", SellAnswers: "pay for an answer from"}
	do := "have"
	if len(r.Actions) > 0 {
		var all []string
		for _, a := range r.Actions {
			all = append(all, verbs[a])
		}
		do = strings.Join(all, " or ")
	}
	may := " may "
	if r.Forbid {
		may = " may never "
	}
	out := who + may + do + " a memory"
	for i, c := range r.conds {
		join := " if "
		if i > 0 {
			join = ", and if "
		}
		if c.unless {
			join = strings.Replace(join, "if", "unless", 1)
		}
		out += join + c.expr.words()
	}
	switch {
	case r.Asks && r.For == 0:
		out += ", once you say yes, each time"
	case r.Asks:
		out += ", once you say yes, which holds for " + Span(r.For) + " at most"
	}
	return out + "."
}
