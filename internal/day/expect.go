package day

import (
	"time"
)

// Expect says what the result of a day should be, but not how to get it. Line numbers are those of
// day.jsonl.
type Expect struct {
	Secrets    []Secret       `json:"secrets"`
	Questions  []Question     `json:"questions"`
	Refused    []Refused      `json:"refused"`
	Types      map[string]int `json:"types"` // by memory type: the least number of active ones
	Procedures []Procedure    `json:"procedures"`
	Photos     Photos         `json:"photos"`
	Notes      []Note         `json:"notes"`
	Gaps       []Gap          `json:"gaps"`
}

// Secret is a credential that was said aloud. None of its forms may be found anywhere; the vault
// has the value.
type Secret struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`  // password, pin, code, key
	Label []string `json:"label"` // the vault entry's label contains at least one of these, in any case
	Value string   `json:"value"` // as typed
	Forms []string `json:"forms"` // every form in which it, or a part of it, is said or might be written
	Lines []int    `json:"lines"` // where it is said; several if it is split
}

// Question is something that the wearer may ask in the evening. The answer cites at least one of
// Lines among its hits.
//
// If Current is set, the question is about something that has one value at a time, and had another
// one before.
type Question struct {
	Question    string    `json:"question"`
	Lang        string    `json:"lang"`
	Lines       []int     `json:"lines"`
	Answer      []string  `json:"answer,omitempty"` // one of these is in what is found
	Current     []string  `json:"current,omitempty"`
	CurrentAt   time.Time `json:"current_at,omitzero"` // for an appointment: its present time
	Former      []string  `json:"former,omitempty"`
	FormerAt    time.Time `json:"former_at,omitzero"`
	FormerLines []int     `json:"former_lines,omitempty"`
}

// Refused is a line that must not become a memory.
type Refused struct {
	Line  int      `json:"line"`
	Kinds []string `json:"kinds"` // what it is: filler, greeting, question, command
}

// Procedure is a set of instructions.
type Procedure struct {
	About []string `json:"about"` // one of these is in its text
	Lines []int    `json:"lines"`
	Steps int      `json:"steps"` // as a person counts them; one fewer is accepted
}

// Photos says which photos look alike.
type Photos struct {
	Alike [][2]string `json:"alike"`
	Apart []string    `json:"apart"` // no two of these are alike
}

// Note is printed text in a photo.
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
