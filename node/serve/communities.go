package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Communer manages the wearer's part in communities. A community is named by its id or the
// beginning of it. An unknown one gives memory.ErrNotFound, and an action that the wearer's role
// does not allow gives ErrForbidden. If the relay does not answer, methods return ErrRelay.
type Communer interface {
	// NewCommunity founds a community at the node's relay, or returns ErrUnsupported if there is
	// none.
	NewCommunity(ctx context.Context, r NewCommunity) (CommunityHead, error)
	// JoinCommunity opens the link of a community to which somebody admitted the wearer's key.
	JoinCommunity(ctx context.Context, r JoinCommunity) (CommunityHead, error)
	Communities(ctx context.Context) ([]CommunityHead, error)
	// Community returns the content of a community, after asking the relay.
	Community(ctx context.Context, id string) (CommunityView, error)
	// ReadKey returns somebody's key with the words that identify it. The error is
	// memory.ErrInvalid if it is not a key.
	ReadKey(ctx context.Context, r GivenKeyText) (GivenKey, error)
	// InviteTo admits somebody; a proposal of a member waits for an owner or moderator.
	InviteTo(ctx context.Context, id string, r CommunityInvite) (CommunityView, error)
	// PreviewCommunity returns what AddToCommunity would add; nothing leaves the node.
	PreviewCommunity(ctx context.Context, id string, r ShareRequest) (SharePreview, error)
	// AddToCommunity adds copies. It returns ErrConflict if r.Confirm belongs to another preview.
	AddToCommunity(ctx context.Context, id string, r ShareRequest) (CommunityView, error)
	// RemoveFrom removes an item or a member.
	RemoveFrom(ctx context.Context, id string, r CommunityRemoval) (CommunityView, error)
	SetCommunityRules(ctx context.Context, id, text string) (CommunityView, error)
	AskCommunity(ctx context.Context, id, text string) (CommunityView, error)
	// AnswerCommunity sets what the node may use to answer questions; nil: nothing.
	AnswerCommunity(ctx context.Context, id string, r *ShareRequest) (CommunityHead, error)
	// LeaveCommunity removes what the wearer added, and ends the community if the wearer is its
	// owner.
	LeaveCommunity(ctx context.Context, id string) error
}

// NewCommunity founds a community.
type NewCommunity struct {
	Name string `json:"name"`
	As   string `json:"as,omitempty"` // the owner's name among the members; absent: owner
}

// JoinCommunity names a community by its link.
type JoinCommunity struct {
	Link string `json:"link"`
	Name string `json:"name,omitempty"` // the community's name for the wearer and in the wearer's policy
}

// CommunityInvite says who is admitted.
type CommunityInvite struct {
	Who       string `json:"who"`             // NAME=KEY, or the name of a person whom a member proposed
	Words     string `json:"words,omitempty"` // words of the key; needed if who is only the name of a proposed person
	Moderator bool   `json:"moderator,omitempty"`
}

// GivenKeyText is the key of another person, in the form in which they pass it on.
type GivenKeyText struct {
	Key string `json:"key"`
}

// CommunityRemoval says what is removed.
type CommunityRemoval struct {
	What   string `json:"what"`             // an item by id, or a member by name or id. Ids can be shortened: 4 characters of a member's id, or 4 after the first 13 of an item's
	Reason string `json:"reason,omitempty"` // for all members to read; not needed for one's own items
}

// CommunityText is a rule or question in words.
type CommunityText struct {
	Text string `json:"text"`
}

// CommunityAnswers says what a node may use to answer questions.
type CommunityAnswers struct {
	With *ShareRequest `json:"with,omitempty"` // selects by types, tags, redact and so on; absent: the node answers nothing
}

// CommunityChoice is what a node uses to answer questions.
type CommunityChoice struct {
	Types       []memory.Type      `json:"types"`
	Tags        []string           `json:"tags"`
	Since       time.Time          `json:"since,omitzero"`
	Until       time.Time          `json:"until,omitzero"`
	Sensitivity memory.Sensitivity `json:"sensitivity"` // the highest level that is used
	Redact      []string           `json:"redact"`
	Quotes      bool               `json:"quotes,omitempty"`
}

// CommunityHead is a community to which the wearer belongs.
type CommunityHead struct {
	ID      memory.SpaceID `json:"id"`
	Name    string         `json:"name"`
	Link    string         `json:"link"` // for people who were added; it opens nothing without their keys
	Role    string         `json:"role"` // owner, moderator or member
	Rules   string         `json:"rules,omitempty"`
	Fee     string         `json:"fee,omitempty"` // the fee for which the owner adds anybody, and where to pay it
	People  int            `json:"people"`
	Count   int            `json:"count"` // number of visible items
	Answers bool           `json:"answers,omitempty"`
	Fetched time.Time      `json:"fetched,omitzero"`
	Ended   time.Time      `json:"ended,omitzero"` // since when the relay no longer serves it to the wearer
}

// CommunitiesAnswer lists communities.
type CommunitiesAnswer struct {
	Communities []CommunityHead `json:"communities"`
}

// CommunityView is what a member sees. It is the same for all members who have fetched the same
// content.
type CommunityView struct {
	CommunityHead
	Members   []CommunityMember   `json:"members"`
	Waiting   []CommunityMember   `json:"waiting"` // people whom members proposed
	Items     []CommunityItem     `json:"items"`
	Removed   []CommunityItem     `json:"removed"` // hidden items, with the reasons
	Questions []CommunityQuestion `json:"questions"`
	Log       []CommunityDeed     `json:"log"`            // oldest first
	With      *CommunityChoice    `json:"with,omitempty"` // what this node answers with; absent: it answers nothing
}

// CommunityMember is a member, or somebody who was proposed.
type CommunityMember struct {
	Member  memory.MemberID `json:"member,omitzero"`
	Name    string          `json:"name"`
	Role    string          `json:"role,omitempty"`
	Words   string          `json:"words"` // words that identify the key, to compare
	Key     string          `json:"key,omitempty"`
	By      string          `json:"by,omitempty"` // who proposed this person
	You     bool            `json:"you,omitempty"`
	Leaving bool            `json:"leaving,omitempty"`
}

// AuthorChars is how many characters of an item's id identify its author: all items of one member
// begin with the same characters.
const AuthorChars = 13

// CommunityItem is a copy that a member added.
type CommunityItem struct {
	ID   memory.ID   `json:"id"`
	By   string      `json:"by"`
	At   time.Time   `json:"at"` // by that member's clock
	Type memory.Type `json:"type"`
	Text string      `json:"text"`
	You  bool        `json:"you,omitempty"`
	Why  string      `json:"why,omitempty"` // why it was removed
	// Removal is the id of what hides the item. Removing that id shows the item again. It is absent
	// if the item's author is no longer a member.
	Removal memory.ID `json:"removal,omitzero"`
	Yours   bool      `json:"yours,omitempty"` // the wearer removed it
}

// CommunityQuestion is a question of a member, with the answers of others.
type CommunityQuestion struct {
	CommunityItem
	Knows   string          `json:"knows"`            // who may know the question and the answers
	Former  int             `json:"former,omitempty"` // how many of these are no longer members
	Answers []CommunityItem `json:"answers"`
}

// CommunityDeed is a line of the log.
type CommunityDeed struct {
	At   time.Time `json:"at"`
	Did  string    `json:"did"` // founded, let in, put out, left, set the rules, removed or restored
	By   string    `json:"by"`
	What string    `json:"what,omitempty"`
	Why  string    `json:"why,omitempty"`
	ID   memory.ID `json:"id,omitzero"` // id of a removal; with it, the author or the owner can undo the removal
}

type communityOf struct {
	Community string `path:"community" doc:"its id, or at least 4 characters of it"`
}

type inCommunity[B any] struct {
	Community string `path:"community" doc:"its id, or at least 4 characters of it"`
	Body      B
}

var communitiesTopic = topic[Communer]{newCommunity.untyped, joinCommunity.untyped, readKey.untyped, listCommunities.untyped, getCommunity.untyped, inviteTo.untyped, previewCommunity.untyped,
	addToCommunity.untyped, removeFrom.untyped, setCommunityRules.untyped, askCommunity.untyped, answerCommunity.untyped, leaveCommunity.untyped}

var (
	newCommunity = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/communities", id: "newCommunity", made: true, slow: true,
		summary: "Found a community", gives: "The community, with the wearer as its owner",
	}, Communer.NewCommunity)

	joinCommunity = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/communities/join", id: "joinCommunity", slow: true,
		summary: "Join a community by its link", about: "Before that, somebody in the community has to add the wearer's key (givenKey).",
		gives: "The community; from now on, its items are part of the wearer's answers, marked with their author",
	}, Communer.JoinCommunity)

	readKey = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/communities/key", id: "readKey",
		summary: "Get the words of somebody's key, to compare", about: "Before you add the key, compare the words with those that the other person's Locket shows (givenKey).",
		gives: "The key and its words; nothing is stored",
	}, Communer.ReadKey)

	listCommunities = plainList[CommunitiesAnswer](RightOwner, spec{
		method: "GET", path: "/v1/communities", id: "listCommunities",
		summary: "List the wearer's communities", gives: "The communities, as last fetched",
	}, Communer.Communities)

	getCommunity = fieldRoute[communityOf](RightOwner, spec{
		method: "GET", path: "/v1/communities/{community}", id: "getCommunity", slow: true,
		summary: "Show a community", gives: "The rules, members, items, questions, removed items with the reasons, and the log",
	}, Communer.Community)

	inviteTo = fieldsRoute[inCommunity[CommunityInvite]](RightOwner, spec{
		method: "POST", path: "/v1/communities/{community}/members", id: "inviteToCommunity", slow: true,
		summary: "Add somebody to a community", about: "If the wearer is only a member, this is a proposal: it waits until an owner or moderator makes the same request.",
		gives: "The community",
	}, Communer.InviteTo)

	previewCommunity = fieldsRoute[inCommunity[ShareRequest]](RightOwner, spec{
		method: "POST", path: "/v1/communities/{community}/preview", id: "previewCommunity",
		summary: "Preview what would be put into a community", gives: "What its members would see; nothing has left the node",
	}, Communer.PreviewCommunity)

	addToCommunity = fieldsRoute[inCommunity[ShareRequest]](RightOwner, spec{
		method: "POST", path: "/v1/communities/{community}/items", id: "addToCommunity", slow: true,
		summary: "Put redacted copies into a community", gives: "The community",
	}, Communer.AddToCommunity)

	removeFrom = fieldsRoute[inCommunity[CommunityRemoval]](RightOwner, spec{
		method: "POST", path: "/v1/communities/{community}/removals", id: "removeFromCommunity", slow: true,
		summary: "Remove an item or a member from a community", gives: "The community; all members can read the reason",
	}, Communer.RemoveFrom)

	setCommunityRules = jsonRoute(RightOwner, spec{
		method: "PUT", path: "/v1/communities/{community}/rules", id: "setCommunityRules", slow: true,
		summary: "Set a community's rules", gives: "The community",
	}, func(s Communer, ctx context.Context, in inCommunity[CommunityText]) (CommunityView, error) {
		return s.SetCommunityRules(ctx, in.Community, in.Body.Text)
	})

	askCommunity = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/communities/{community}/questions", id: "askCommunity", slow: true,
		summary: "Ask the members of a community", about: "The nodes of members who allow this answer at their next check, within a few minutes.",
		gives: "The community; each question says who may know what was asked and answered",
	}, func(s Communer, ctx context.Context, in inCommunity[CommunityText]) (CommunityView, error) {
		return s.AskCommunity(ctx, in.Community, in.Body.Text)
	})

	answerCommunity = jsonRoute(RightOwner, spec{
		method: "PUT", path: "/v1/communities/{community}/answers", id: "answerCommunity",
		summary: "Set what this node may use to answer a community's questions", gives: "The community",
	}, func(s Communer, ctx context.Context, in inCommunity[CommunityAnswers]) (CommunityHead, error) {
		return s.AnswerCommunity(ctx, in.Community, in.Body.With)
	})

	leaveCommunity = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/communities/{community}", id: "leaveCommunity", slow: true,
		summary: "Leave a community; if the wearer owns it, end it", gives: "The wearer's items are removed from the community, and nothing of the community is kept here",
	}, func(s Communer, ctx context.Context, in communityOf) (none, error) {
		return none{}, s.LeaveCommunity(ctx, in.Community)
	})
)

// NewCommunity founds a community.
func (c *Client) NewCommunity(ctx context.Context, r NewCommunity) (CommunityHead, error) {
	return call(ctx, c, newCommunity, r)
}

// JoinCommunity joins a community by its link.
func (c *Client) JoinCommunity(ctx context.Context, r JoinCommunity) (CommunityHead, error) {
	return call(ctx, c, joinCommunity, r)
}

// ReadKey returns the words that identify somebody's key.
func (c *Client) ReadKey(ctx context.Context, r GivenKeyText) (GivenKey, error) {
	return call(ctx, c, readKey, r)
}

// Communities lists the wearer's communities.
func (c *Client) Communities(ctx context.Context) ([]CommunityHead, error) {
	return items(ctx, c, listCommunities, none{})
}

// Community shows a community.
func (c *Client) Community(ctx context.Context, id string) (CommunityView, error) {
	return call(ctx, c, getCommunity, communityOf{id})
}

// InviteTo admits somebody.
func (c *Client) InviteTo(ctx context.Context, id string, r CommunityInvite) (CommunityView, error) {
	return call(ctx, c, inviteTo, inCommunity[CommunityInvite]{id, r})
}

// PreviewCommunity shows what would be added.
func (c *Client) PreviewCommunity(ctx context.Context, id string, r ShareRequest) (SharePreview, error) {
	return call(ctx, c, previewCommunity, inCommunity[ShareRequest]{id, r})
}

// AddToCommunity adds copies.
func (c *Client) AddToCommunity(ctx context.Context, id string, r ShareRequest) (CommunityView, error) {
	return call(ctx, c, addToCommunity, inCommunity[ShareRequest]{id, r})
}

// RemoveFrom removes an item or a member.
func (c *Client) RemoveFrom(ctx context.Context, id string, r CommunityRemoval) (CommunityView, error) {
	return call(ctx, c, removeFrom, inCommunity[CommunityRemoval]{id, r})
}

// SetCommunityRules sets the rules.
func (c *Client) SetCommunityRules(ctx context.Context, id, text string) (CommunityView, error) {
	return call(ctx, c, setCommunityRules, inCommunity[CommunityText]{id, CommunityText{text}})
}

// AskCommunity asks the members.
func (c *Client) AskCommunity(ctx context.Context, id, text string) (CommunityView, error) {
	return call(ctx, c, askCommunity, inCommunity[CommunityText]{id, CommunityText{text}})
}

// AnswerCommunity sets what the node may use to answer questions; nil: nothing.
func (c *Client) AnswerCommunity(ctx context.Context, id string, r *ShareRequest) (CommunityHead, error) {
	return call(ctx, c, answerCommunity, inCommunity[CommunityAnswers]{id, CommunityAnswers{r}})
}

// LeaveCommunity leaves a community.
func (c *Client) LeaveCommunity(ctx context.Context, id string) error {
	_, err := call(ctx, c, leaveCommunity, communityOf{id})
	return err
}
