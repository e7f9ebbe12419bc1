// Package retrieve turns the results of recall into the block of text that a
// language model is given: active retrieval, after MIRIX.
//
// The words:
//
//   - A [Turn] is one message of the conversation that is going on.
//   - A topic is what its last turns are about, as a query: see [Topic].
//   - An [Item] is one memory or utterance that may go into the block.
//   - A section holds the items of one type, within a tag of its name.
//   - A cite is a prefix of an item's id by which the block, and an answer
//     made from it, names the item; all cites of a block are distinct.
//   - The budget is a number of tokens, as [Tokens] counts them.
//
// A memory's text is somebody's words, so a block presents it as data. Each
// item has one line that begins with its cite. Everything is escaped that could
// close a tag, begin a line, or look like a cite or like a model's marks for
// speakers.
//
// Everything here is a pure function of its arguments.
package retrieve

import (
	"time"

	"github.com/locket-dev/locket/memory"
)

// PerType is how many items a section of memories has at most (as MIRIX).
const PerType = 10

// MaxUtterances is how many utterances a block has at most: they are the sources, and fill what the
// memories leave of the budget.
const MaxUtterances = 100

// Turn is one message of a conversation, the latest last.
type Turn struct {
	Speaker string
	Text    string
}

// Utterances is the name of the section of utterances; the others have the names of their types.
const Utterances memory.Type = "utterances"

// sections in the order in which a block has them. The vault is not among them.
var sections = []struct {
	of  memory.Type
	tag string
}{
	{memory.Core, "core_memory"},
	{memory.Episodic, "episodic_memory"},
	{memory.Semantic, "semantic_memory"},
	{memory.Procedural, "procedural_memory"},
	{memory.Resource, "resource_memory"},
	{Utterances, "utterances"},
}

// Item is a memory or utterance that may go into a block.
type Item struct {
	ID      memory.ID
	Section memory.Type // the type of a memory, or Utterances
	Text    string
	Label   string    // of a core block: its name
	Steps   []string  // steps of a procedure
	At      time.Time // when it happened or was said; zero: not known
	Until   time.Time // until when it was true; zero: it still is
	Speaker string
	Quote   string // the words of the evidence; empty if Text says the same

	First bool // it is shown before all others but core blocks

	SharedBy string    // who shares it with the wearer; empty: it is the wearer's own
	User     string    // another user, whom it is about; empty: the wearer
	Lapses   time.Time // when the share ends; zero: not known
}

// Line is an item that is in a block.
type Line struct {
	Item
	Cite   string
	Tokens int
}

// Block is what a language model is given.
type Block struct {
	Text   string
	Tokens int
	Lines  []Line // in the order of the items, core first
	Left   int    // number of items for which there was no room
}
