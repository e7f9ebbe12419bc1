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

// Recaller searches memories, and answers from what it finds.
type Recaller interface {
	// Search returns the best hits first. If nothing answers the query, Known is false, and there
	// may be no hits.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
	// Ask answers from memory. If a language model is configured, it writes the answer and has to
	// cite its sources; otherwise the evidence itself is the answer. If recall finds nothing, no
	// model is asked. A question about a photo is for a worker with a vision model: it is stored,
	// and asking it again returns the answer once it has arrived.
	Ask(ctx context.Context, r AskRequest) (AskResult, error)
	// Context finds the topic of the conversation and returns up to ten
	// memories of each type and lines about it, as one block of text within a
	// budget: see package retrieve. It never contains vault memories.
	Context(ctx context.Context, r ContextRequest) (ContextResult, error)
}

// SearchRequest is a search.
type SearchRequest struct {
	Query     string          `json:"query"`               // only the first 4 KiB are used
	Own       string          `json:"own,omitempty"`       // the question, if words from a conversation follow it in query; query must begin with it. The words after it count less
	K         int             `json:"k,omitempty"`         // number of hits; 0: 10; at most 100
	Types     []memory.Type   `json:"types,omitempty"`     // empty: all
	At        time.Time       `json:"at,omitzero"`         // when the question is asked, for words such as "yesterday"; absent: now
	AsOf      time.Time       `json:"as_of,omitzero"`      // only what was true in the world at this time
	KnownAt   time.Time       `json:"known_at,omitzero"`   // only what was believed at this time
	Since     time.Time       `json:"since,omitzero"`      // only with evidence from this time or later
	Until     time.Time       `json:"until,omitzero"`      // only with evidence from before this time
	Threshold float64         `json:"threshold,omitempty"` // hits with a lower score are left out
	History   bool            `json:"history,omitempty"`   // includes superseded memories
	Only      string          `json:"only,omitempty"`      // memories or utterances; empty: both
	Tag       string          `json:"tag,omitempty"`       // only memories with this tag
	Filters   filter.Filter   `json:"filters,omitzero"`    // only what they select
	Metadata  memory.Metadata `json:"metadata,omitempty"`  // only memories with all of these
	Agent     string          `json:"agent,omitempty"`     // only memories of this agent
	Run       string          `json:"run,omitempty"`       // only memories of this run
	Sees      filter.Filter   `json:"-"`                   // what the caller may see; Filters include it already
}

// Values of SearchRequest.Only.
const (
	OnlyMemories   = "memories"
	OnlyUtterances = "utterances"
)

// SearchResult is the answer to a search. Known is false if nothing answers the query; hits may
// then be the nearest ones.
type SearchResult struct {
	Hits       []Hit   `json:"hits"`
	Known      bool    `json:"known"`
	Confidence float64 `json:"confidence"` // of the best hit, 0 to 1
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
	Reason string `json:"reason"` // late: it took too long; busy: earlier calls are late and still running; failed: it returned an error
}

// Hit is a memory or an utterance that was found; one of the two is set.
type Hit struct {
	ID    memory.ID `json:"id"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"` // time of the evidence, or when the line was said
	Score float64   `json:"score"`
	// Parts add up to the score. `bm25_match`: the question's words are in it or in the lines around
	// it. `speaker_match`: the question names the person who said it. `string_match`: it has words
	// that are spelt like the question's, or the exact code or quotation. `lexicon_match`: it has
	// words of the kind that the question asks for. `time_match`: it is of a time that the question
	// names, or records where or with whom the wearer was then. `entity_match`: it has a whole name
	// from the question. `graph_match`: it has a name that is connected with those in the question.
	// `context_match`: it answers somebody's question that has the words. `embedding_match`: its
	// meaning is near, by an embedding model, if one is set. `rerank_match`: the judgement of a
	// reranker, if one is set. `when`, `where`, `number`: it tells what such a question asks.
	// `length`: longer lines tell more. `pinned`: the wearer pinned it. `derived`, below zero: it
	// was made from a line that is a hit itself. `question`, below zero: it is a question, and so no
	// answer. `replaces`: it replaced a line that was found. `past`, below zero: what it says is no
	// longer true. `shared`, below zero: another person shares it, so it is a less certain answer
	// than the wearer's own memories.
	Parts     map[string]float64 `json:"parts"`
	Evidence  []memory.Evidence  `json:"evidence,omitempty"`
	Said      string             `json:"said,omitempty"` // the whole line that a memory quotes, while it is kept
	Memory    *memory.Memory     `json:"memory,omitempty"`
	Chunk     *memory.Chunk      `json:"chunk,omitempty"` // the part of a long resource that matches
	Utterance *memory.Utterance  `json:"utterance,omitempty"`
	Until     time.Time          `json:"until,omitzero"`      // for a line: when its content stopped being true
	Cold      bool               `json:"cold,omitempty"`      // the text is at the relay and can't be fetched now
	SharedBy  *SharedBy          `json:"shared_by,omitempty"` // the person who shares it; absent: it is the wearer's own
	// Minor is true if the hit and the lines around it cover much less of the question than the best
	// hit. What the wearer typed is also minor if it covers much less by itself. A minor hit may
	// still be useful to a model; for a person, show the others.
	Minor bool `json:"minor,omitempty"`
}

// AskRequest is a question.
type AskRequest struct {
	Question string `json:"question"` // only the first 4 KiB are used
	// Before is the conversation so far, the latest message last. A follow-up question ("and
	// where?") takes names and words from it.
	Before       []ContextMessage `json:"before,omitempty"`
	Budget       int              `json:"budget,omitempty"`        // tokens of context for the model; 0: 1000, or less if less is useful; at most 32000
	At           time.Time        `json:"at,omitzero"`             // when it is asked; absent: now
	Agent        string           `json:"agent,omitempty"`         // only memories of this agent
	Run          string           `json:"run,omitempty"`           // only memories of this run
	Filters      filter.Filter    `json:"filters,omitzero"`        // only what they select
	NoQuotes     bool             `json:"no_quotes,omitempty"`     // use memories without the lines that they quote
	Photo        memory.ID        `json:"photo,omitzero"`          // the photo that the question is about: a worker is asked, and the answer comes later
	EvidenceOnly bool             `json:"evidence_only,omitempty"` // do not ask a model
	Sees         filter.Filter    `json:"-"`                       // what who asks may know of; Filters hold to it already
}

// AskResult is an answer with its sources.
type AskResult struct {
	Answer     string        `json:"answer,omitempty"`   // by a model, or the places and people on record for a time; empty: the evidence is the answer
	Model      string        `json:"model,omitempty"`    // the model that wrote the answer; empty: none
	Topic      string        `json:"topic,omitempty"`    // what was searched for, if it has words from before; absent: the question
	Known      bool          `json:"known"`              // false: the answer is not known, and the evidence is only the nearest
	Confidence float64       `json:"confidence"`         // of recall, 0 to 1
	Cited      bool          `json:"cited"`              // the answer has citations, all of them from the evidence that the model was given
	Citations  []ContextItem `json:"citations"`          // the cited items, in the answer's order
	Invented   []string      `json:"invented,omitempty"` // citations of things that the model was not given
	Evidence   []ContextItem `json:"evidence"`           // best first
	Question   memory.ID     `json:"question,omitzero"`  // the memory that stores a question about a photo
	Waits      string        `json:"waits,omitempty"`    // what that question waits for; empty: it was answered
	Trouble    string        `json:"trouble,omitempty"`  // why the model gave no answer
	Vault      []VaultHint   `json:"vault,omitempty"`    // secrets that the question may ask for; only for the owner. GET /v1/vault/{id} shows one
	Unheard    []string      `json:"unheard,omitempty"`  // if the answer is not known: names in the question that no memory has
}

// VaultHint names a secret without revealing it.
type VaultHint struct {
	ID    memory.ID `json:"id"`
	Label string    `json:"label"` // what the secret is for
}

// ContextRequest describes the conversation.
type ContextRequest struct {
	Messages []ContextMessage `json:"messages,omitempty"`  // the latest last; empty, and no topic: what is due within 48 hours, then the present session
	Topic    string           `json:"topic,omitempty"`     // instead of finding it from the messages; only the first 4 KiB are used
	Budget   int              `json:"budget,omitempty"`    // in tokens; 0: 1000, or less if less is useful; at most 32000
	At       time.Time        `json:"at,omitzero"`         // the time of the request, for words such as "yesterday"; absent: now
	Due      bool             `json:"due,omitempty"`       // put what is due within 48 hours first, whatever the topic; without a topic, the block has only that and core memories
	Agent    string           `json:"agent,omitempty"`     // only memories of this agent
	Run      string           `json:"run,omitempty"`       // only memories of this run
	Filters  filter.Filter    `json:"filters,omitzero"`    // only what they select
	NoQuotes bool             `json:"no_quotes,omitempty"` // use memories without the lines that they quote
	Sees     filter.Filter    `json:"-"`                   // what the caller may see; Filters include it already
	Own      string           `json:"-"`                   // the beginning of Topic, if the rest comes from a conversation
	// AskModel is called before a language model is asked for the topic, with the approximate
	// number of tokens that would be sent. If it returns false, the model is not asked. nil: it may
	// be asked.
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
	Items      []ContextItem `json:"items"`      // the items in the block: core memories first, then the others, best first
	Left       int           `json:"left"`       // number of items that did not fit
}

// ContextItem is one line of a block.
type ContextItem struct {
	ID       memory.ID         `json:"id"`
	Cite     string            `json:"cite"`    // the beginning of the id, as in the block
	Section  string            `json:"section"` // a type of memory, or utterances
	Text     string            `json:"text"`
	At       time.Time         `json:"at,omitzero"`
	Until    time.Time         `json:"until,omitzero"` // when it stops or stopped being true
	Tokens   int               `json:"tokens"`
	Evidence []memory.Evidence `json:"evidence,omitempty"`
	Said     string            `json:"said,omitempty"`      // the whole line that the memory was made from, if it has more of the question's words
	SharedBy *SharedBy         `json:"shared_by,omitempty"` // the person who shares it; absent: it is the wearer's own
	User     string            `json:"user,omitempty"`      // the app's user whom it is about; absent: the wearer
	Minor    bool              `json:"minor,omitempty"`     // as for a hit of a search
}

// Limits of a ContextRequest.
const (
	DefaultBudget = 1000
	MaxBudget     = 32000
	MaxMessages   = 200
)

// MaxHits is the maximum number of hits of a search.
const MaxHits = 100

var recallTopic = topic[Recaller]{search.untyped, ask.untyped, getContext.untyped}

var (
	search = jsonRoute(RightRead, spec{
		method: "POST", path: "/v1/search", id: "search",
		summary: "Find memories and utterances",
		about:   "Each hit has its score and the parts that add up to it. If nothing that was found answers the query, known is false.",
		gives:   "The hits, best first",
	}, func(s Recaller, ctx context.Context, req SearchRequest) (SearchResult, error) {
		res, err := s.Search(ctx, req)
		res.Hits = slices.Clone(res.Hits)
		for i := range res.Hits {
			if m := res.Hits[i].Memory; m != nil {
				res.Hits[i].Memory = &withoutSealed(*m)[0]
			}
		}
		return res, err
	})

	ask = jsonRoute(RightRead, spec{
		method: "POST", path: "/v1/ask", id: "ask",
		summary: "Answer a question from memory",
		about:   "If a language model is configured, it writes the answer and cites ids. Otherwise the evidence itself is the answer. If recall finds nothing that answers, known is false and no model is asked.",
		gives:   "The answer, with its sources",
	}, Recaller.Ask)

	getContext = jsonRoute(RightRead, spec{
		method: "POST", path: "/v1/context", id: "context", optional: true,
		summary: "Get the context that an assistant needs for a topic or a conversation",
		about:   "The topic comes from the last messages, or from the present session. The answer is one block of tagged text within a budget of tokens: core blocks, up to ten memories of each type, and lines that were said about the topic. Each line has the id that an answer should cite.",
		gives:   "The block, and the items in it",
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

// Search searches memories.
func (c *Client) Search(ctx context.Context, r SearchRequest) (SearchResult, error) {
	return call(ctx, c, search, r)
}

// Ask answers a question.
func (c *Client) Ask(ctx context.Context, r AskRequest) (AskResult, error) {
	return call(ctx, c, ask, r)
}

// Context returns what an assistant should know.
func (c *Client) Context(ctx context.Context, r ContextRequest) (ContextResult, error) {
	return call(ctx, c, getContext, r)
}
