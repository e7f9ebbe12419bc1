package serve

import (
	"context"

	"github.com/locket-dev/locket/memory/filter"
)

// FilterLine is a filter that a person wrote as one line.
type FilterLine struct {
	Line    string        `json:"line"`    // in canonical spelling, which is always the same for the same filter
	Filters filter.Filter `json:"filters"` // in the form that other requests use
	Parts   []FilterPart  `json:"parts"`   // all of them must hold
}

// FilterPart is a part of a filter. The lines of all parts, joined by " and ",
// are the whole filter.
type FilterPart struct {
	Line   string    `json:"line"`
	Field  string    `json:"field,omitempty"` // absent: the part has more than one condition
	Op     filter.Op `json:"op,omitempty"`
	Values []string  `json:"values,omitempty"`
}

type filterQuery struct {
	Line string `query:"line" doc:"such as: type in (semantic, core) and speaker = Ana"`
}

var readFilter = jsonRoute(RightOwner, spec{
	method: "GET", path: "/v1/filter", id: "readFilter",
	summary: "Read a filter that is written as a line, as after --where",
	about:   "A date without a zone is of the node's. An error names the character.",
	gives:   "The filter and its parts",
}, func(s Calendar, ctx context.Context, q filterQuery) (out FilterLine, err error) {
	zone, err := s.Zone(ctx)
	if err != nil {
		return out, err
	}
	f, err := filter.Parse(q.Line, zone)
	if err != nil {
		return out, kindInvalid.problem("line", err.Error())
	}
	out.Line, out.Filters = f.String(), f
	for _, part := range f.Parts() {
		p := FilterPart{Line: part.Operand()}
		p.Field, p.Op, p.Values, _ = part.Condition()
		out.Parts = append(out.Parts, p)
	}
	return out, nil
})
