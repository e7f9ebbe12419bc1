package serve

// Facts counts the active facts, which are the memories of type semantic.
type Facts struct {
	Categories []CategoryCount `json:"categories"` // categories with facts, in their owner's order; a fact may be in several
	Slots      []FactSlot      `json:"slots"`      // slots of the requested category, or of all; the wearer's first, then by subject and attribute
	Loose      int             `json:"loose"`      // how many of these facts have no slot
	More       bool            `json:"more,omitempty"`
}

// FactSlot is a property of somebody or something, with the number of active facts about it.
type FactSlot struct {
	Subject   string `json:"subject"`   // "user" means the wearer
	Attribute string `json:"attribute"` // such as home
	Memories  int    `json:"memories"`
}

// DefaultSlots is how many slots are returned if the request has no limit.
const DefaultSlots = 500

// FactsQuery selects slots.
type FactsQuery struct {
	Category string `query:"category" doc:"only slots of facts in this category"`
	Limit    int    `query:"limit" min:"1" max:"5000" default:"500" doc:"number of slots"`
}

var listFacts = jsonRoute(RightOwner, spec{
	method: "GET", path: "/v1/facts", id: "facts",
	summary: "Count the active facts by category and slot",
	about:   "To list the facts of one slot, use GET /v1/memories with type=semantic and a filter of categories, subject and attribute.",
	gives:   "The categories and the slots, the wearer's own first",
}, Reader.Facts)
