package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Policer manages the wearer's policy: what may be given to whom.
type Policer interface {
	Policy(ctx context.Context) (Policy, error)
	// SetPolicy replaces the policy. If it is empty, what the wearer shares by
	// hand is allowed. It returns ErrChanged if the policy is not r.Was.
	SetPolicy(ctx context.Context, r NewPolicy) (Policy, error)
	// SetNever sets the words that are removed from every share. It returns ErrChanged if the words
	// are not r.Was.
	SetNever(ctx context.Context, r NeverList) (Policy, error)
	// PolicyTest returns what somebody would get, and which rule decides.
	PolicyTest(ctx context.Context, r PolicyTestRequest) (PolicyTested, error)
	// PolicyDiff returns what another policy would newly allow and deny to
	// those who receive something now.
	PolicyDiff(ctx context.Context, text string) (PolicyDiff, error)
}

// Policy decides what may be given to whom.
type Policy struct {
	Text      string       `json:"text"` // in Cedar
	Mine      bool         `json:"mine"` // the wearer has set it; otherwise, the default applies: what the wearer shares by hand is allowed
	Rules     []PolicyRule `json:"rules"`
	Never     []string     `json:"never"`               // words that are removed from every share
	Conflicts []string     `json:"conflicts,omitempty"` // policies that devices set without knowing of this one; each of them has to allow, too
	Trouble   string       `json:"trouble,omitempty"`   // why it can't be parsed; it then denies everything
}

// Texts returns the text and its conflicts, as NewPolicy.Was has them.
func (p *Policy) Texts() []string { return append([]string{p.Text}, p.Conflicts...) }

// PolicyRule is one rule.
type PolicyRule struct {
	Name    string `json:"name"`
	Line    int    `json:"line"`
	Forbids bool   `json:"forbids"`
	Words   string `json:"words"` // the rule in plain words
}

// PolicyText is a policy in the language Cedar.
type PolicyText struct {
	Text string `json:"text"` // empty: what the wearer shares by hand is allowed
}

// NewPolicy replaces the policy.
type NewPolicy struct {
	Text string `json:"text"` // in Cedar; empty: what the wearer shares by hand is allowed
	// Was is the policy that the caller read: its text, then its conflicts. If it is another by now,
	// nothing is changed, and the problem is "changed". Absent: it replaces any.
	Was []string `json:"was,omitzero"`
}

// NeverList are words that go into no share.
type NeverList struct {
	Words []string `json:"words"`
	// Was are the words that the caller read. If they are others by now, nothing is changed, and the
	// problem is "changed". Absent: it replaces any.
	Was []string `json:"was,omitzero"`
}

// PolicyTestRequest says for whom to test.
type PolicyTestRequest struct {
	As      string    `json:"as"`               // reader:NAME, app:NAME, worker:NAME, community:NAME or buyer
	Action  string    `json:"action,omitempty"` // answer: what may be used to answer a buyer; empty: the usual action of that kind of party
	Purpose string    `json:"purpose,omitempty"`
	At      time.Time `json:"at,omitzero"`    // absent: now
	Text    string    `json:"text,omitempty"` // a policy to test; empty: the present policy
}

// PolicyTested is what would be allowed.
type PolicyTested struct {
	As     string       `json:"as"`
	Action string       `json:"action"` // share, read, feed, sell or answer
	Passes []PolicyItem `json:"passes"`
	Held   int          `json:"held"` // memories that would be denied
	Why    []HeldBack   `json:"why,omitempty"`
}

// PolicyItem is a memory with the policy's decision.
type PolicyItem struct {
	ID   memory.ID   `json:"id"`
	Type memory.Type `json:"type"`
	Text string      `json:"text"`
	By   string      `json:"by"` // the rule that decides
}

// HeldBack says why memories are denied.
type HeldBack struct {
	Why      string `json:"why"`
	Memories int    `json:"memories"`
}

// PolicyDiff is what another policy would change.
type PolicyDiff struct {
	Policy  Policy         `json:"policy"` // the other policy
	Changes []PolicyChange `json:"changes"`
}

// PolicyChange is the change for one party.
type PolicyChange struct {
	As     string       `json:"as"`
	Action string       `json:"action"`
	Opens  []PolicyItem `json:"opens,omitempty"`
	Closes []PolicyItem `json:"closes,omitempty"`
}

var policyTopic = topic[Policer]{getPolicy.untyped, setPolicy.untyped, setNever.untyped, testPolicy.untyped, diffPolicy.untyped}

var (
	getPolicy = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/policy", id: "getPolicy",
		summary: "Get the policy: what may be given to whom", gives: "The policy, with its rules in plain words",
	}, Policer.Policy)

	setPolicy = jsonRoute(RightOwner, spec{
		method: "PUT", path: "/v1/policy", id: "setPolicy",
		summary: "Set the policy: what may be given to whom",
		about:   "The policy is written in a subset of Cedar in which no rule can fail and each can be shown in plain words. What no rule permits is denied. What a rule forbids is denied, even if another rule permits it. The vault is never given to anybody.",
		gives:   "The policy",
	}, Policer.SetPolicy)

	setNever = jsonRoute(RightOwner, spec{
		method: "PUT", path: "/v1/policy/never", id: "setNever",
		summary: "Set the words that are removed from every share", gives: "The policy, with these words",
	}, Policer.SetNever)

	testPolicy = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/policy/test", id: "testPolicy",
		summary: "Test what somebody would get, and which rule decides", gives: "The memories that are allowed, and why others are not",
	}, Policer.PolicyTest)

	diffPolicy = fieldRoute[PolicyText](RightOwner, spec{
		method: "POST", path: "/v1/policy/diff", id: "diffPolicy",
		summary: "Compare another policy with the present one", gives: "For each existing reader, app and worker, what the other policy would allow and deny",
	}, Policer.PolicyDiff)
)

// Policy returns the policy.
func (c *Client) Policy(ctx context.Context) (Policy, error) { return call(ctx, c, getPolicy, none{}) }

// SetPolicy replaces the policy. If was is not nil, and the present policy has other texts, the error is
// ErrChanged.
func (c *Client) SetPolicy(ctx context.Context, text string, was ...string) (Policy, error) {
	return call(ctx, c, setPolicy, NewPolicy{text, was})
}

// SetNever sets the words that go into no share. If was is not nil, and the present words are others,
// the error is ErrChanged.
func (c *Client) SetNever(ctx context.Context, words []string, was ...string) (Policy, error) {
	return call(ctx, c, setNever, NeverList{NonNil(words), was})
}

// TestPolicy returns what somebody would get.
func (c *Client) TestPolicy(ctx context.Context, r PolicyTestRequest) (PolicyTested, error) {
	return call(ctx, c, testPolicy, r)
}

// DiffPolicy returns what another policy would change.
func (c *Client) DiffPolicy(ctx context.Context, text string) (PolicyDiff, error) {
	return call(ctx, c, diffPolicy, PolicyText{text})
}
