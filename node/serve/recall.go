package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
)

// Recaller searches, and answers from what it finds.
type Recaller interface {
	// Search returns the best hits first. If nothing answers the query, there
	// may be no hits, and Known is false.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
	// Ask answers from memory. If a language model is configured, it writes the
	// answer and has to cite its sources; otherwise the evidence itself is the
	// answer. If recall finds nothing, no model is asked. A question about a
	// photo is for a worker with a vision model: it is stored, and asking it
	// again returns the answer when it has come.
	Ask(ctx context.Context, r AskRequest) (AskResult, error)
	// Context finds the topic of the conversation and returns up to ten
	// memories of each type and lines about it, as one block of text within a
	// budget: see package retrieve. It never contains vault memories.
	Context(ctx context.Context, r ContextRequest) (ContextResult, error)
}

// SearchRequest asks.
type SearchRequest struct {
	Query     string          `json:"query"`               // the first 4 KiB are read
	Own       string          `json:"own,omitempty"`       // the question that query begins with, where a conversation lent the words after it: they count less
	K         int             `json:"k,omitempty"`         // 0: 10; at most 100
	Types     []memory.Type   `json:"types,omitempty"`     // empty: all
	At        time.Time       `json:"at,omitzero"`         // when it is asked: what "yesterday" is relative to; absent: now
	AsOf      time.Time       `json:"as_of,omitzero"`      // true in the world at this time
	KnownAt   time.Time       `json:"known_at,omitzero"`   // believed at this time
	Since     time.Time       `json:"since,omitzero"`      // of the evidence
	Until     time.Time       `json:"until,omitzero"`      // of the evidence
	Threshold float64         `json:"threshold,omitempty"` // hits with a lower score are left out
	History   bool            `json:"history,omitempty"`   // also superseded memories
	Only      string          `json:"only,omitempty"`      // memories or utterances; empty: both
	Tag       string          `json:"tag,omitempty"`       // memories with this tag
	Filters   filter.Filter   `json:"filters,omitzero"`    // only what they select
	Metadata  memory.Metadata `json:"metadata,omitempty"`  // memories with all of these
	Agent     string          `json:"agent,omitempty"`     // scope
	Run       string          `json:"run,omitempty"`       // scope
	Sees      filter.Filter   `json:"-"`                   // what the caller may see; Filters include it already
}

// What SearchRequest.Only may be.
const (
	OnlyMemories   = "memories"
	OnlyUtterances = "utterances"
)

// SearchResult is the answer. Known is false if nothing answers the query; hits
// may then be the nearest ones.
type SearchResult struct {
	Hits       []Hit   `json:"hits"`
	Known      bool    `json:"known"`
	Confidence float64 `json:"confidence"` // 0 to 1, of the best hit
	// Shape is what the question asks for: who, when, where, how_to, how_many,
	// exact, preference or plain.
	Shape string `json:"shape,omitempty"`
	// Unquoted is true if the question is a phrase in quotation marks that no
	// document contains. The hits were found by its single words.
	Unquoted bool `json:"unquoted,omitempty"`
	// Skipped lists the configured models that did not contribute to this
	// answer.
	Skipped []SkippedPart `json:"skipped,omitempty"`
	Missing int           `json:"missing,omitempty"` // cold hits that can't be fetched now
}

// SkippedPart is a part of the scores that a model should have contributed.
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
	// is asked after. `time_match`: of a time that the question names, or the record of where or with
	// whom the wearer was then. `entity_match`: a whole name that the question holds. `graph_match`: a name that hangs together with those in the question.
	// `context_match`: answers somebody's question that holds the words. `embedding_match`: near in
	// meaning, by an embedding model, where one is set. `rerank_match`: judged by a reranker, where
	// one is set. `when`, `where`, `number`: tells what such a question asks. `length`: longer lines tell more.
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
	Until     time.Time          `json:"until,omitzero"`      // for a line: when its content stopped being true
	Cold      bool               `json:"cold,omitempty"`      // the text is at the relay and can't be fetched now
	SharedBy  *SharedBy          `json:"shared_by,omitempty"` // the person who shares it; absent: it is the wearer's own
	// Much less of the question is in it and in the lines beside it than in the best hit; of what the
	// wearer typed, in it alone, too. A model may have use of it; a person is shown the others.
	Minor bool `json:"minor,omitempty"`
}

// AskRequest is a question.
type AskRequest struct {
	Question string `json:"question"` // the first 4 KiB are read
	// Before is what was asked and answered before it, the latest last: a question
	// that goes on from that ("and where?") is lent its names and words.
	Before       []ContextMessage `json:"before,omitempty"`
	Budget       int              `json:"budget,omitempty"`        // tokens of what the model is given; 0: 1000, of which no more is filled than is of use; at most 32000
	At           time.Time        `json:"at,omitzero"`             // when it is asked; absent: now
	Agent        string           `json:"agent,omitempty"`         // scope
	Run          string           `json:"run,omitempty"`           // scope
	Filters      filter.Filter    `json:"filters,omitzero"`        // only from what they choose
	NoQuotes     bool             `json:"no_quotes,omitempty"`     // from memories without the lines that they quote
	Photo        memory.ID        `json:"photo,omitzero"`          // that it is about: a worker is asked, and the answer comes later
	EvidenceOnly bool             `json:"evidence_only,omitempty"` // ask no model
	Sees         filter.Filter    `json:"-"`                       // what who asks may know of; Filters hold to it already
}

// AskResult is an answer with its sources.
type AskResult struct {
	Answer     string        `json:"answer,omitempty"`   // a model's, or the places and people that records have of a time; empty: the evidence is the answer
	Model      string        `json:"model,omitempty"`    // that made it; empty: none did
	Topic      string        `json:"topic,omitempty"`    // what was looked for, where what was asked before lent words; absent: the question
	Known      bool          `json:"known"`              // false: it is not known, and the evidence the nearest there is
	Confidence float64       `json:"confidence"`         // 0 to 1, of recall
	Cited      bool          `json:"cited"`              // the answer cites what is given here, and nothing else
	Citations  []ContextItem `json:"citations"`          // what it cites, in its order
	Invented   []string      `json:"invented,omitempty"` // citations of something that was not given
	Evidence   []ContextItem `json:"evidence"`           // the best first
	Question   memory.ID     `json:"question,omitzero"`  // the memory that stores a question about a photo
	Waits      string        `json:"waits,omitempty"`    // what that question waits for; empty: it was answered
	Trouble    string        `json:"trouble,omitempty"`  // why the model gave no answer
	Vault      []VaultHint   `json:"vault,omitempty"`    // secrets that the question may ask for, for the owner alone: POST /v1/vault/{id} shows one
	Unheard    []string      `json:"unheard,omitempty"`  // names of the question that nothing remembered has, where it is not known
}

// VaultHint names a secret, and does not show it.
type VaultHint struct {
	ID    memory.ID `json:"id"`
	Label string    `json:"label"` // what it is for
}

// ContextRequest describes the conversation.
type ContextRequest struct {
	Messages []ContextMessage `json:"messages,omitempty"`  // the latest last; empty: the present session, after what is due within 48 hours if there is no topic
	Topic    string           `json:"topic,omitempty"`     // instead of finding it; the first 4 KiB are read
	Budget   int              `json:"budget,omitempty"`    // tokens; 0: 1000, or less if less is useful; at most 32000
	At       time.Time        `json:"at,omitzero"`         // what "yesterday" is relative to; absent: now
	Due      bool             `json:"due,omitempty"`       // what is due within 48 hours comes first, whatever the topic; without one, core memories and that are all
	Agent    string           `json:"agent,omitempty"`     // scope
	Run      string           `json:"run,omitempty"`       // scope
	Filters  filter.Filter    `json:"filters,omitzero"`    // only what they select
	NoQuotes bool             `json:"no_quotes,omitempty"` // memories without their quotes
	Sees     filter.Filter    `json:"-"`                   // what the caller may see; Filters include it already
	Own      string           `json:"-"`                   // what Topic begins with, where a conversation lent the rest
	// AskModel is called before a language model is asked for the topic, with
	// about how many tokens would be sent. If it returns false, the model is
	// not asked. nil: it may be asked.
	AskModel func(tokens int) bool `json:"-"`
}

// ContextMessage is one message of a conversation.
type ContextMessage struct {
	Speaker string `json:"speaker,omitempty"`
	Text    string `json:"text"`
}

// ContextResult is what an assistant should know.
type ContextResult struct {
	Topic      string        `json:"topic"` // empty: the messages have no topic
	Text       string        `json:"text"`  // the block; empty: nothing is known
	Tokens     int           `json:"tokens"`
	Known      bool          `json:"known"`      // the block has something about the topic
	Confidence float64       `json:"confidence"` // 0 to 1
	Items      []ContextItem `json:"items"`      // the items in the block: core first, then the best first
	Left       int           `json:"left"`       // items that did not fit
}

// ContextItem is one line of a block.
type ContextItem struct {
	ID       memory.ID         `json:"id"`
	Cite     string            `json:"cite"`    // the beginning of the id, as in the block
	Section  string            `json:"section"` // a type of memory, or utterances
	Text     string            `json:"text"`
	At       time.Time         `json:"at,omitzero"`
	Until    time.Time         `json:"until,omitzero"` // when it stops, or stopped, being true
	Tokens   int               `json:"tokens"`
	Evidence []memory.Evidence `json:"evidence,omitempty"`
	Said     string            `json:"said,omitempty"`      // the whole line that a memory is from, where that has more of the question's words
	SharedBy *SharedBy         `json:"shared_by,omitempty"` // the person who shares it; absent: it is the wearer's own
	User     string            `json:"user,omitempty"`      // the user of an app whom it is about; absent: the wearer
	Minor    bool              `json:"minor,omitempty"`     // as with a hit of a search
}

// Limits of a ContextRequest.
const (
	DefaultBudget = 1000
	MaxBudget     = 32000
	MaxMessages   = 200
)

// MaxHits is the most that a search gives.
const MaxHits = 100

var recalling = topic[Recaller]{search.untyped, ask.untyped, gather.untyped}

var (
	search = jsonRoute(RightRead, spec{
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

	ask = jsonRoute(RightRead, spec{
		method: "POST", path: "/v1/ask", id: "ask",
		summary: "Answer a question from memory",
		about:   "In the words of the language model where one is configured, with the ids that it cites; else with the evidence itself. Where recall finds nothing that answers, known is false and no model is asked.",
		gives:   "The answer, and what it is from",
	}, Recaller.Ask)

	gather = jsonRoute(RightRead, spec{
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
	case !strings.HasPrefix(r.Query, r.Own):
		return kindInvalid.problem("own", "own: query has to begin with it")
	case r.K < 0 || r.K > MaxHits:
		return kindInvalid.problem("k", fmt.Sprintf("k: %d, want 1 to %d", r.K, MaxHits))
	case r.Threshold < 0:
		return kindInvalid.problem("threshold", "threshold: below 0")
	case !slices.Contains([]string{"", OnlyMemories, OnlyUtterances}, r.Only):
		return kindInvalid.problem("only", "only: want memories or utterances")
	}
	r.K = cmp.Or(r.K, 10)
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
	c := ContextRequest{Topic: r.Question, Budget: r.Budget, Messages: r.Before}
	err := c.check()
	if p, ok := errors.AsType[*Problem](err); ok && p.Field == "messages" {
		return kindInvalid.problem("before", strings.Replace(p.Detail, "messages", "before", 1))
	}
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
	r.Budget = cmp.Or(r.Budget, DefaultBudget)
	return nil
}

// EvidenceOf returns the evidence to show for an answer. It leaves out core
// blocks, because they are always in a model's context.
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
	return call(ctx, c, search, r)
}

// Ask answers a question.
func (c *Client) Ask(ctx context.Context, r AskRequest) (AskResult, error) {
	return call(ctx, c, ask, r)
}

// Context returns what an assistant should know.
func (c *Client) Context(ctx context.Context, r ContextRequest) (ContextResult, error) {
	return call(ctx, c, gather, r)
}
