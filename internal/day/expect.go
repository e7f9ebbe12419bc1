package day

import (
	"time"
)

// Expect says what should come of a day, without saying how. Line numbers are
// those of day.jsonl.
type Expect struct {
	Secrets    []Secret       `json:"secrets"`
	Questions  []Question     `json:"questions"`
	Refused    []Refused      `json:"refused"`
	Types      map[string]int `json:"types"` // memory type: at least so many that are active
	Procedures []Procedure    `json:"procedures"`
	Photos     Photos         `json:"photos"`
	Notes      []Note         `json:"notes"`
	Gaps       []Gap          `json:"gaps"`
}

// Secret is a credential that was said aloud. None of its forms may be found
// anywhere; the vault has the value.
type Secret struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`  // password, pin, code, key
	Label []string `json:"label"` // the vault entry's label holds at least one of these, in any case
	Value string   `json:"value"` // as it would be typed
	Forms []string `json:"forms"` // every way in which it, or a part of it, is said or might be written
	Lines []int    `json:"lines"` // where it is said; more than one where it is split
}

// Question is something that the wearer may ask in the evening. The answer
// cites at least one of Lines among its hits.
//
// Where Current is set the question is about something of which one value is
// true at a time, and which was otherwise before.
type Question struct {
	Question    string    `json:"question"`
	Lang        string    `json:"lang"`
	Lines       []int     `json:"lines"`
	Answer      []string  `json:"answer,omitempty"` // one of these stands in what is found
	Current     []string  `json:"current,omitempty"`
	CurrentAt   time.Time `json:"current_at,omitzero"` // of an appointment: when it is now
	Former      []string  `json:"former,omitempty"`
	FormerAt    time.Time `json:"former_at,omitzero"`
	FormerLines []int     `json:"former_lines,omitempty"`
}

// Refused is a line from which no memory may come.
type Refused struct {
	Line  int      `json:"line"`
	Kinds []string `json:"kinds"` // filler, greeting, question, command: what it is
}

// Procedure is a how-to.
type Procedure struct {
	About []string `json:"about"` // one of these stands in its text
	Lines []int    `json:"lines"`
	Steps int      `json:"steps"` // as a person counts them; one fewer will do
}

// Photos says which look alike.
type Photos struct {
	Alike [][2]string `json:"alike"`
	Apart []string    `json:"apart"` // no two of these are alike
}

// Note is print in a photo.
type Note struct {
	File string   `json:"file"`
	Text []string `json:"text"` // lines, as printed
}

// Gap is a loss that the device reports.
type Gap struct {
	Line    int    `json:"line"`
	Device  string `json:"device"`
	Missing uint64 `json:"missing"`
}
