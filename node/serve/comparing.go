package serve

import (
	"context"
	"time"
)

// Comparer compares the wearer's interests with another person's, by messages that the two
// pass on by hand. docs/communities.md has the steps, and what a dishonest person can learn.
type Comparer interface {
	// Interests returns the interests that are compared, and every comparison, the latest
	// first.
	Interests(ctx context.Context) (InterestsAnswer, error)
	// ChooseInterests changes which interests are compared from now on. memory.ErrInvalid
	// names a word that can't be an interest, and memory.ErrNotFound one that is not chosen.
	ChooseInterests(ctx context.Context, r ChooseInterests) (InterestList, error)
	// ProposeInterests returns possible interests from memories and communities that are not
	// chosen yet.
	ProposeInterests(ctx context.Context) (InterestList, error)
	// AskInterests begins a comparison. Errors: memory.ErrInvalid if the key is not one,
	// ErrConflict if a limit on comparisons is reached.
	AskInterests(ctx context.Context, r AskInterests) (ComparisonStep, error)
	// OpenInterests processes a message. Errors: memory.ErrInvalid, memory.ErrNotFound if its
	// comparison is not here, ErrConflict if that has ended or the peer has lied.
	OpenInterests(ctx context.Context, r OpenInterests) (ComparisonStep, error)
	// TellInterests tells the peer which interests both have. Errors: memory.ErrNotFound,
	// memory.ErrInvalid if it is not known yet how many these are, ErrConflict after the end.
	TellInterests(ctx context.Context, id string) (ComparisonStep, error)
	// InterestsAgain returns the message that the peer may not have received yet, or
	// memory.ErrNotFound.
	InterestsAgain(ctx context.Context, id string) (ComparisonStep, error)
	// ForgetInterests drops a comparison, or returns memory.ErrNotFound. The comparison still
	// counts towards the limit for this key.
	ForgetInterests(ctx context.Context, id string) error
}

// Comparison is the state of a comparison.
type Comparison struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`  // the wearer's name for the peer
	Words   string    `json:"words"` // words that identify the peer's key, to compare
	Began   time.Time `json:"began"`
	Offered int       `json:"offered"`          // how many interests of the wearer are compared
	Count   *int      `json:"count,omitempty"`  // how many interests both have, according to the peer; absent: not known yet
	Agreed  bool      `json:"agreed,omitempty"` // the wearer has told the peer which they are
	Told    bool      `json:"told,omitempty"`   // the peer has told the wearer which they are
	Both    []string  `json:"both,omitempty"`   // the interests, once both have told
	Ended   string    `json:"ended,omitempty"`  // why it does not continue
}

// ComparisonAsked is a message that asks for a comparison, before the wearer has agreed.
type ComparisonAsked struct {
	ID    string `json:"id"`
	Words string `json:"words"` // words that identify the key of the one who asks
	Ours  int    `json:"ours"`  // how many interests would be compared
}

// ComparisonStep is the result of a step: a comparison, or a request that needs the wearer's
// consent.
type ComparisonStep struct {
	Asked      *ComparisonAsked `json:"asked,omitempty"`      // it waits for the wearer's consent, and nothing has changed
	Comparison *Comparison      `json:"comparison,omitempty"` // as it stands now
	Message    string           `json:"message,omitempty"`    // to pass on to the peer; absent: there is none
}

// InterestsAnswer has the interests that are compared, and the comparisons.
type InterestsAnswer struct {
	Interests   []string     `json:"interests"`
	Comparisons []Comparison `json:"comparisons"`
}

// InterestList has interests in the order in which they were chosen.
type InterestList struct {
	Interests []string `json:"interests"`
}

// ChooseInterests adds and removes interests, as words.
type ChooseInterests struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// AskInterests names another person by the wearer's name for them, and by their key
// (givenKey).
type AskInterests struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// OpenInterests is a message of a peer.
type OpenInterests struct {
	Message string `json:"message"`
	Name    string `json:"name,omitempty"` // the wearer's name for the peer, if the message asks for a comparison
	Yes     bool   `json:"yes,omitempty"`  // the peer may learn how many interests both have; without it, a message that asks is only shown
}

type comparisonOf struct {
	Comparison string `path:"comparison" doc:"its id"`
}

var comparing = topic[Comparer]{listInterests.untyped, chooseInterests.untyped, proposeInterests.untyped, askInterests.untyped,
	openInterests.untyped, tellInterests.untyped, interestsAgain.untyped, forgetInterests.untyped}

var (
	listInterests = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/match", id: "interests",
		summary: "Show the interests that are compared, and the comparisons", gives: "Both; the latest comparison first",
	}, Comparer.Interests)

	chooseInterests = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/match/interests", id: "chooseInterests",
		summary: "Choose the interests that are compared", about: "Comparisons that have begun go on with what there was.", gives: "All of them",
	}, Comparer.ChooseInterests)

	proposeInterests = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/match/proposals", id: "proposeInterests",
		summary: "Propose interests", about: "From what you like, your tags and your communities. Memories that are private, secret or in the vault propose nothing.",
		gives: "Words that are no interest yet",
	}, Comparer.ProposeInterests)

	askInterests = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/match", id: "askInterests", made: true,
		summary: "Begin to compare interests with the owner of a key", gives: "The comparison, and a message for them",
	}, Comparer.AskInterests)

	openInterests = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/match/messages", id: "openInterests",
		summary: "Open a message of a comparison", about: "One that asks for a comparison needs `yes` and a name; without them the answer has `asked` alone, and nothing changes.",
		gives: "The comparison, and the answer for the peer, if there is one",
	}, Comparer.OpenInterests)

	tellInterests = fieldRoute[comparisonOf](RightOwner, spec{
		method: "POST", path: "/v1/match/{comparison}/which", id: "tellInterests",
		summary: "Tell somebody which interests both have", about: "You see them once both have told.", gives: "The comparison, and a message for them",
	}, Comparer.TellInterests)

	interestsAgain = fieldRoute[comparisonOf](RightOwner, spec{
		method: "GET", path: "/v1/match/{comparison}/message", id: "interestsAgain",
		summary: "Give the last message to somebody once more", gives: "What they may not have yet: one message, or two, each on a line",
	}, Comparer.InterestsAgain)

	forgetInterests = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/match/{comparison}", id: "forgetInterests",
		summary: "Drop a comparison and what came of it", gives: "It is kept for 30 days that there was one with this key",
	}, func(s Comparer, ctx context.Context, in comparisonOf) (none, error) {
		return none{}, s.ForgetInterests(ctx, in.Comparison)
	})
)

// Interests returns the interests that are compared, and the comparisons.
func (c *Client) Interests(ctx context.Context) (InterestsAnswer, error) {
	return call(ctx, c, listInterests, none{})
}

// ChooseInterests changes which interests are compared.
func (c *Client) ChooseInterests(ctx context.Context, r ChooseInterests) (InterestList, error) {
	return call(ctx, c, chooseInterests, r)
}

// ProposeInterests returns words that could be compared.
func (c *Client) ProposeInterests(ctx context.Context) ([]string, error) {
	v, err := call(ctx, c, proposeInterests, none{})
	return v.Interests, err
}

// AskInterests begins a comparison.
func (c *Client) AskInterests(ctx context.Context, r AskInterests) (ComparisonStep, error) {
	return call(ctx, c, askInterests, r)
}

// OpenInterests processes a message.
func (c *Client) OpenInterests(ctx context.Context, r OpenInterests) (ComparisonStep, error) {
	return call(ctx, c, openInterests, r)
}

// TellInterests tells somebody which interests both have.
func (c *Client) TellInterests(ctx context.Context, id string) (ComparisonStep, error) {
	return call(ctx, c, tellInterests, comparisonOf{id})
}

// InterestsAgain returns the last message to somebody.
func (c *Client) InterestsAgain(ctx context.Context, id string) (ComparisonStep, error) {
	return call(ctx, c, interestsAgain, comparisonOf{id})
}

// ForgetInterests drops a comparison.
func (c *Client) ForgetInterests(ctx context.Context, id string) error {
	_, err := call(ctx, c, forgetInterests, comparisonOf{id})
	return err
}
