package serve

import (
	"context"

	"github.com/locket-dev/locket/memory/filter"
)

// FilterLine is a filter that a person wrote as one line.
type FilterLine struct {
	Line    string        `json:"line"`    // canonical text form: the same for equal filters
	Filters filter.Filter `json:"filters"` // the filter in the form that other requests take
	Parts   []FilterPart  `json:"parts"`   // conditions that must all hold
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
	summary: "Parse a filter in its text form, as after --where",
	about:   "A date without a time zone is in the node's zone. An error names the position of the wrong character.",
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
