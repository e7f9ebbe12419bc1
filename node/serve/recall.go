package serve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
)

// Recaller finds, and answers from what it finds.
type Recaller interface {
	// Search returns the best hits first. Nothing that answers is an answer: no
	// hits, Known false.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
	// Ask answers from memory: in the words of the language model where one is
	// configured, which have to cite what they are from; else with the evidence
	// itself. Where recall finds nothing that answers, no model is asked. A
	// question about a photo is for a worker that sees: it is kept, and who asks
	// it again is given the answer once that has come.
	Ask(ctx context.Context, r AskRequest) (AskResult, error)
	// Context finds what the conversation is about and gives up to ten
	// memories of each type and what was said of it, as one block of text
	// within a budget: see package retrieve. Vault memories are never in it.
	Context(ctx context.Context, r ContextRequest) (ContextResult, error)
}

// SearchRequest asks.
type SearchRequest struct {
	Query     string          `json:"query"`
	K         int             `json:"k,omitempty"`         // 0: 10; at most 100
	Types     []memory.Type   `json:"types,omitempty"`     // empty: all
	At        time.Time       `json:"at,omitzero"`         // when it is asked: what "yesterday" is relative to; absent: now
	AsOf      time.Time       `json:"as_of,omitzero"`      // true then, out in the world
	KnownAt   time.Time       `json:"known_at,omitzero"`   // believed then
	Since     time.Time       `json:"since,omitzero"`      // of the evidence
	Until     time.Time       `json:"until,omitzero"`      // of the evidence
	Threshold float64         `json:"threshold,omitempty"` // hits of a lower score are left out
	History   bool            `json:"history,omitempty"`   // superseded memories too
	Only      string          `json:"only,omitempty"`      // OnlyMemories or OnlyUtterances; empty: both
	Tag       string          `json:"tag,omitempty"`       // memories with this tag
	Filters   filter.Filter   `json:"filters,omitzero"`    // only what they choose
	Metadata  memory.Metadata `json:"metadata,omitempty"`  // memories with all of these
	Agent     string          `json:"agent,omitempty"`     // scope
	Run       string          `json:"run,omitempty"`       // scope
	Sees      filter.Filter   `json:"-"`                   // what who asks may know of; Filters hold to it already
}

// What SearchRequest.Only may be.
const (
	OnlyMemories   = "memories"
	OnlyUtterances = "utterances"
)

// SearchResult answers. Known is false where nothing that was found answers
// the query; hits may then be there as the nearest there is.
type SearchResult struct {
	Hits       []Hit   `json:"hits"`
	Known      bool    `json:"known"`
	Confidence float64 `json:"confidence"` // 0 to 1, of the best hit
	// Shape is what the question is after: who, when, where, how_to,
	// how_many, exact, preference or plain.
	Shape string `json:"shape,omitempty"`
	// Unquoted: the question is a phrase in quotation marks that stands nowhere. The hits were found
	// by its words.
	Unquoted bool `json:"unquoted,omitempty"`
	// Skipped are the models that are set and had no part in this answer.
	Skipped []SkippedPart `json:"skipped,omitempty"`
	Missing int           `json:"missing,omitempty"` // hits that are cold and can't be fetched now
}

// SkippedPart is a part of scores that a model should have given.
type SkippedPart struct {
	Part   string `json:"part"`   // embedding_match or rerank_match
	Reason string `json:"reason"` // late: it took too long; busy: earlier calls are late and still under way; failed: it gave an error
}

// Hit is one memory or utterance that was found; one of the two is set.
type Hit struct {
	ID    memory.ID `json:"id"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"` // of the evidence, or when it was said
	Score float64   `json:"score"`
	// What adds up to the score, by name. `bm25_match`: the question's words, here and in what was
	// said around it. `speaker_match`: the question names who said this. `string_match`: spelt like
	// the question's words, or the very code or quotation. `lexicon_match`: words of the matter that
	// is asked after. `time_match`: of a time that the question names. `entity_match`: a whole name
	// that the question holds. `graph_match`: a name that hangs together with those in the question.
	// `context_match`: answers somebody's question that holds the words. `embedding_match`: near in
	// meaning, by an embedding model, where one is set. `rerank_match`: judged by a reranker, where
	// one is set. `when`, `where`: tells what such a question asks. `length`: longer lines tell more.
	// `pinned`: the wearer pinned it. `derived`, below zero: taken from a line that is here itself.
	// `question`, below zero: asks, and so does not answer. `replaces`: took the place of a line that
	// was found. `past`, below zero: what the line says is no longer so. `shared`, below zero: another
	// shares this, and that answers less surely than the wearer's own.
	Parts     map[string]float64 `json:"parts"`
	Evidence  []memory.Evidence  `json:"evidence,omitempty"`
	Said      string             `json:"said,omitempty"` // the whole line that a memory quotes, while it is kept
	Memory    *memory.Memory     `json:"memory,omitempty"`
	Chunk     *memory.Chunk      `json:"chunk,omitempty"` // the part of a long resource that answers
	Utterance *memory.Utterance  `json:"utterance,omitempty"`
	Until     time.Time          `json:"until,omitzero"`      // of a line: when what it says stopped being so
	Cold      bool               `json:"cold,omitempty"`      // the text is at the relay, and can't be fetched now
	SharedBy  *SharedBy          `json:"shared_by,omitempty"` // it is another's, who shares it; absent: the wearer's own
}

// AskRequest is a question.
type AskRequest struct {
	Question     string        `json:"question"`
	Budget       int           `json:"budget,omitempty"`        // tokens of what the model is given; 0: 1000, of which no more is filled than is of use; at most 32000
	At           time.Time     `json:"at,omitzero"`             // when it is asked; absent: now
	Agent        string        `json:"agent,omitempty"`         // scope
	Run          string        `json:"run,omitempty"`           // scope
	Filters      filter.Filter `json:"filters,omitzero"`        // only from what they choose
	NoQuotes     bool          `json:"no_quotes,omitempty"`     // from memories without the lines that they quote
	Photo        memory.ID     `json:"photo,omitzero"`          // that it is about: a worker is asked, and the answer comes later
	EvidenceOnly bool          `json:"evidence_only,omitempty"` // ask no model
	Sees         filter.Filter `json:"-"`                       // what who asks may know of; Filters hold to it already
}

// AskResult is an answer with what it is from.
type AskResult struct {
	Answer     string        `json:"answer,omitempty"`   // empty: the evidence is the answer
	Model      string        `json:"model,omitempty"`    // that made it; empty: none did
	Known      bool          `json:"known"`              // false: it is not known, and the evidence the nearest there is
	Confidence float64       `json:"confidence"`         // 0 to 1, of recall
	Cited      bool          `json:"cited"`              // the answer cites what is given here, and nothing else
	Citations  []ContextItem `json:"citations"`          // what it cites, in its order
	Invented   []string      `json:"invented,omitempty"` // citations of nothing that was given
	Evidence   []ContextItem `json:"evidence"`           // the best first
	Question   memory.ID     `json:"question,omitzero"`  // of a question about a photo, which is kept as a memory
	Waits      string        `json:"waits,omitempty"`    // what that waits for; empty: it was answered
	Trouble    string        `json:"trouble,omitempty"`  // why the model gave no answer
}

// ContextRequest says what the conversation is.
type ContextRequest struct {
	Messages []ContextMessage `json:"messages,omitempty"`  // the latest last; empty: the session that is going on
	Topic    string           `json:"topic,omitempty"`     // instead of inferring it
	Budget   int              `json:"budget,omitempty"`    // tokens; 0: 1000, of which no more is filled than is of use; at most 32000
	At       time.Time        `json:"at,omitzero"`         // what "yesterday" is relative to; absent: now
	Agent    string           `json:"agent,omitempty"`     // scope
	Run      string           `json:"run,omitempty"`       // scope
	Filters  filter.Filter    `json:"filters,omitzero"`    // only what they choose
	NoQuotes bool             `json:"no_quotes,omitempty"` // memories without the lines that they quote
	Sees     filter.Filter    `json:"-"`                   // what who asks may know of; Filters hold to it already
	// AskModel is called before a language model is asked what the conversation is about,
	// with about how many tokens it is sent: false has it not asked. nil: it may be.
	AskModel func(tokens int) bool `json:"-"`
}

// ContextMessage is one message of a conversation.
type ContextMessage struct {
	Speaker string `json:"speaker,omitempty"`
	Text    string `json:"text"`
}

// ContextResult is what should be in mind.
type ContextResult struct {
	Topic      string        `json:"topic"` // empty: nothing was said that has one
	Text       string        `json:"text"`  // the block; empty: nothing is known
	Tokens     int           `json:"tokens"`
	Known      bool          `json:"known"`      // something in it speaks of the topic
	Confidence float64       `json:"confidence"` // 0 to 1
	Items      []ContextItem `json:"items"`      // what is in the block, core first, then best first
	Left       int           `json:"left"`       // items that had no room
}

// ContextItem is one line of a block.
type ContextItem struct {
	ID       memory.ID         `json:"id"`
	Cite     string            `json:"cite"`    // the beginning of the id, as the block has it
	Section  string            `json:"section"` // a type of memory, or utterances
	Text     string            `json:"text"`
	At       time.Time         `json:"at,omitzero"`
	Tokens   int               `json:"tokens"`
	Evidence []memory.Evidence `json:"evidence,omitempty"`
	SharedBy *SharedBy         `json:"shared_by,omitempty"` // it is another's, who shares it; absent: the wearer's own
}

// Limits of a ContextRequest.
const (
	DefaultBudget = 1000
	MaxBudget     = 32000
	MaxMessages   = 200
)

// MaxHits is the most that a search gives.
const MaxHits = 100

var recalling = topic[Recaller]{search, ask, gather}

var (
	search = takes(RightRead, spec{
		method: "POST", path: "/v1/search", id: "search",
		summary: "Find memories and utterances",
		about:   "Each hit has its score with the parts that add up to it. Where nothing that was found answers the query, known is false.",
		gives:   "The best first",
	}, func(s Recaller, ctx context.Context, req SearchRequest) (SearchResult, error) {
		res, err := s.Search(ctx, req)
		res.Hits = slices.Clone(res.Hits)
		for i := range res.Hits {
			if m := res.Hits[i].Memory; m != nil {
				res.Hits[i].Memory = &bare(*m)[0]
			}
		}
		return res, err
	})

	ask = takes(RightRead, spec{
		method: "POST", path: "/v1/ask", id: "ask",
		summary: "Answer a question from memory",
		about:   "In the words of the language model where one is configured, with the ids that it cites; else with the evidence itself. Where recall finds nothing that answers, known is false and no model is asked.",
		gives:   "The answer, and what it is from",
	}, Recaller.Ask)

	gather = takes(RightRead, spec{
		method: "POST", path: "/v1/context", id: "context", optional: true,
		summary: "What an assistant should have in mind",
		about:   "Infers from the last messages what is talked about, or takes the session that is going on, and gives core blocks, up to ten memories of each type, and what was said about it, as one block of tagged text within a budget of tokens. Each line has the id that an answer should cite.",
		gives:   "The block, and what is in it",
	}, Recaller.Context)
)

func (r *SearchRequest) check() error {
	switch {
	case strings.TrimSpace(r.Query) == "":
		return kindInvalid.problem("query", "query: empty")
	case len(r.Query) > memory.MaxText:
		return kindInvalid.problem("query", fmt.Sprintf("query: %d bytes, at most %d", len(r.Query), memory.MaxText))
	case r.K < 0 || r.K > MaxHits:
		return kindInvalid.problem("k", fmt.Sprintf("k: %d, want 1 to %d", r.K, MaxHits))
	case r.Threshold < 0:
		return kindInvalid.problem("threshold", "threshold: below 0")
	case !slices.Contains([]string{"", OnlyMemories, OnlyUtterances}, r.Only):
		return kindInvalid.problem("only", "only: want memories or utterances")
	}
	if r.K == 0 {
		r.K = 10
	}
	for _, t := range r.Types {
		if err := checkType("types", cmp.Or(t, "(empty)")); err != nil {
			return err
		}
	}
	return nil
}

func (r *AskRequest) check() error {
	if strings.TrimSpace(r.Question) == "" {
		return kindInvalid.problem("question", "question: empty")
	}
	c := ContextRequest{Topic: r.Question, Budget: r.Budget}
	err := c.check()
	r.Budget = c.Budget
	return err
}

func (r *ContextRequest) check() error {
	switch {
	case r.Budget < 0 || r.Budget > MaxBudget:
		return kindInvalid.problem("budget", fmt.Sprintf("budget: %d, want 1 to %d tokens", r.Budget, MaxBudget))
	case len(r.Messages) > MaxMessages:
		return kindInvalid.problem("messages", fmt.Sprintf("messages: %d, at most %d", len(r.Messages), MaxMessages))
	case len(r.Topic) > memory.MaxText:
		return kindInvalid.problem("topic", fmt.Sprintf("topic: %d bytes, at most %d", len(r.Topic), memory.MaxText))
	}
	for i, m := range r.Messages {
		if strings.TrimSpace(m.Text) == "" {
			return kindInvalid.problem("messages", fmt.Sprintf("messages[%d].text: empty", i))
		}
	}
	if r.Budget == 0 {
		r.Budget = DefaultBudget
	}
	return nil
}

// EvidenceOf returns what an answer shows of memory: core blocks are always in
// a model's context, and are no evidence by themselves.
func EvidenceOf(items []ContextItem) []ContextItem {
	out := []ContextItem{}
	for _, it := range items {
		if it.Section != string(memory.Core) {
			out = append(out, it)
		}
	}
	return out
}

// Search finds.
func (c *Client) Search(ctx context.Context, r SearchRequest) (SearchResult, error) {
	return search.call(ctx, c, r)
}

// Ask answers a question.
func (c *Client) Ask(ctx context.Context, r AskRequest) (AskResult, error) {
	return ask.call(ctx, c, r)
}

// Context gathers what an assistant should have in mind.
func (c *Client) Context(ctx context.Context, r ContextRequest) (ContextResult, error) {
	return gather.call(ctx, c, r)
}
