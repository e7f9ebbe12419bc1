package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// Consents asks the wearer for consent if a rule of the policy says so. Without an answer the
// request is denied. A consent is named by its id, or by at least 4 characters of it.
type Consents interface {
	// Consents returns the questions that wait for an answer, and the answers that are still valid.
	Consents(ctx context.Context) ([]Consent, error)
	// AnswerConsent allows or refuses. Errors: memory.ErrNotFound; ErrConflict if there is nothing
	// to allow, or it was changed since; memory.ErrInvalid if the rule does not permit such an
	// answer.
	AnswerConsent(ctx context.Context, r ConsentAnswer) (Consent, error)
}

// Consent is a rule's question, with the wearer's answer.
type Consent struct {
	ID       string          `json:"id"`
	Who      string          `json:"who"`               // reader:NAME, app:NAME, worker:NAME, community:NAME or buyer
	Action   string          `json:"action"`            // share, read, feed, sell, buy, or reveal (one reading of a vault entry)
	Purpose  string          `json:"purpose,omitempty"` // in the words of whoever asks
	Rule     string          `json:"rule"`              // name of the rule
	Words    string          `json:"words"`             // the rule in plain words
	Redacted bool            `json:"redacted,omitempty"`
	Asked    int             `json:"asked"` // how often it was asked
	First    time.Time       `json:"first"`
	Last     time.Time       `json:"last"`
	Waits    []ConsentItem   `json:"waits"`          // what would be shown, and waits for an answer
	More     bool            `json:"more,omitempty"` // more would be shown than waits has; the next question is about the rest
	Lapses   time.Time       `json:"lapses,omitzero"`
	Most     config.Duration `json:"most"` // how long a yes can last at most

	Answer string        `json:"answer,omitempty"` // allowed or refused; absent: no answer is in force
	Said   time.Time     `json:"said,omitzero"`
	Until  time.Time     `json:"until,omitzero"`
	All    bool          `json:"all,omitempty"` // the answer covers also memories to which the rule will apply later
	Shown  []ConsentItem `json:"shown,omitempty"`
}

// ConsentItem is a memory as it would be shown.
type ConsentItem struct {
	ID   memory.ID   `json:"id"`
	Type memory.Type `json:"type"`
	Text string      `json:"text"`
	Was  string      `json:"was,omitempty"` // the text before redaction
	// Beyond is what would be shown beside the text: a document's content, details, or the steps of
	// a how-to.
	Beyond []string `json:"beyond,omitempty"`
	Mark   string   `json:"mark"` // changes when the memory's text changes
}

// ConsentSeen is a memory that the wearer was shown.
type ConsentSeen struct {
	ID   memory.ID `json:"id"`
	Mark string    `json:"mark"` // the mark that was shown
}

// ConsentAnswer is the wearer's answer.
type ConsentAnswer struct {
	ID       string          `json:"-"`
	Act      string          `json:"act" enum:"allow,refuse"`
	Remember bool            `json:"remember,omitempty"` // allow also what the rule applies to later
	For      config.Duration `json:"for,omitempty"`      // how long the answer lasts; absent: as long as the rule allows, or 30 days for a refusal
	// Of are the memories that the wearer was shown and allows. Allow needs them, unless it has
	// remember: then all that wait are allowed. If one of them has changed since, nothing is
	// allowed. A reveal needs its one entry here, and an open vault: otherwise the problem is
	// "vault-locked".
	Of []ConsentSeen `json:"of,omitempty"`
}

type consentAnswered struct {
	ID   string `path:"id" doc:"its id, or at least 4 characters of it"`
	Body ConsentAnswer
}

// ConsentsAnswer lists consents.
type ConsentsAnswer struct {
	Consents []Consent `json:"consents"`
}

var consentsTopic = topic[Consents]{listConsents.untyped, answerConsent.untyped}

var (
	listConsents = plainList[ConsentsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/consents", id: "listConsents",
		summary: "List what waits for your consent, and your answers",
		about:   "A policy rule with @ask permits only what the wearer has agreed to. Each question has what would be shown. Whoever asked is not told of the question.",
		gives:   "The open questions, last asked first, then the answers in force",
	}, Consents.Consents)

	answerConsent = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/consents/{id}", id: "answerConsent",
		summary: "Answer a consent question: allow or refuse",
		about:   "A yes allows what was shown, until its text changes. With remember, it also allows what the rule applies to later. Both expire. A refusal takes back what was allowed before.",
		gives:   "The consent",
	}, func(s Consents, ctx context.Context, in consentAnswered) (Consent, error) {
		in.Body.ID = in.ID
		return s.AnswerConsent(ctx, in.Body)
	})
)

// Consents lists the questions that wait for an answer, and the answers that are still valid.
func (c *Client) Consents(ctx context.Context) ([]Consent, error) {
	return items(ctx, c, listConsents, none{})
}

// AnswerConsent allows or refuses a request.
func (c *Client) AnswerConsent(ctx context.Context, r ConsentAnswer) (Consent, error) {
	return call(ctx, c, answerConsent, consentAnswered{r.ID, r})
}
