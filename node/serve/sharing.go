package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Sharer shares copies of memories with people whom the wearer names. A share
// is named by its id or the beginning of it. Without a relay, methods return
// ErrUnsupported.
type Sharer interface {
	// PreviewShare returns what a share would contain; nothing leaves the node.
	PreviewShare(ctx context.Context, r ShareRequest) (SharePreview, error)
	// CreateShare makes a share. It returns ErrConflict if r.Confirm belongs to
	// another preview, and memory.ErrNotFound if nothing fits.
	CreateShare(ctx context.Context, r ShareRequest) (Share, error)
	// Shares returns all shares, including revoked ones, the newest first.
	Shares(ctx context.Context) ([]Share, error)
	// Share returns a share, with what its readers see.
	Share(ctx context.Context, id string) (SharedView, error)
	// UpdateShare adds memories that fit now, and removes those that no longer
	// fit.
	UpdateShare(ctx context.Context, id string) (ShareUpdated, error)
	// ShareLog returns what was shared, changed, taken back and refused.
	ShareLog(ctx context.Context) (ShareLog, error)
	// RevokeShare removes a reader, by name or member id, or all readers if
	// reader is empty.
	RevokeShare(ctx context.Context, id, reader string) (Share, error)
}

// ShareRequest says what is shared with whom.
type ShareRequest struct {
	Query       string              `json:"query,omitempty"` // at least one of query, types and tags is required
	Types       []memory.Type       `json:"types,omitempty"` // not vault
	Tags        []string            `json:"tags,omitempty"`  // only memories with all of these tags
	Since       time.Time           `json:"since,omitzero"`  // learnt at or after this time
	Until       time.Time           `json:"until,omitzero"`  // learnt before this time
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Limit       int                 `json:"limit,omitempty"`   // number of memories; 0: 50 with a query, otherwise 500
	Redact      []string            `json:"redact,omitempty"`  // what to redact: names, names=pseudonyms, places, places=REGION, times, times=month, numbers, and words
	Quotes      bool                `json:"quotes,omitempty"`  // include the quotes of the evidence
	To          []string            `json:"to"`                // NAME=KEY or KEY, as locket share key prints it
	Title       string              `json:"title,omitempty"`   // only the wearer sees it
	Purpose     string              `json:"purpose,omitempty"` // what the readers need it for; the policy takes it into account
	Expires     time.Time           `json:"expires,omitzero"`
	AtLeast     int                 `json:"at_least,omitempty"` // share a statement only if memories about at least this many people say the same after redaction; 0: no condition
	Without     []memory.ID         `json:"without,omitempty"`  // memories to leave out, also in later updates of the share; at most 500
	Confirm     string              `json:"confirm,omitempty"`  // token of a preview; empty: no preview is required
}

// SharePreview is what would be shared.
type SharePreview struct {
	Memories []SharedCopy  `json:"memories"`
	Readers  []ShareReader `json:"readers"`
	LeftOut  int           `json:"left_out"`       // number of memories that fit, but of which redaction leaves nothing
	Few      int           `json:"few,omitempty"`  // number of memories that fit, but are about too few people
	Risks    []ShareRisk   `json:"risks"`          // what a reader might still find out
	Held     []HeldBack    `json:"held,omitempty"` // memories that match, but are denied by the policy
	Confirm  string        `json:"confirm"`
	Marks    *CopyMarks    `json:"marks,omitempty"` // for a bundle for sale
}

// SharedCopy is what a reader sees of a memory.
type SharedCopy struct {
	Of   memory.ID   `json:"of"` // the wearer's own memory; the reader does not learn it
	Type memory.Type `json:"type"`
	Text string      `json:"text"`
	Was  string      `json:"was,omitempty"` // the text before redaction, if it differs
	Or   string      `json:"or,omitempty"`  // a variant: at each place, a buyer's copy has the words of Text or of this one
	// Copy is exactly what a reader gets, except for the id, which is derived from the share.
	Copy memory.Candidate `json:"copy"`
}

// ShareRisk is something from which a reader might learn more than the share is
// meant to reveal.
type ShareRisk struct {
	Kind string    `json:"kind"` // reaches, name, script, joins or exact
	Of   memory.ID `json:"of,omitzero"`
	What string    `json:"what"`
}

// ShareDeed is one entry of the log of sharing.
type ShareDeed struct {
	At      time.Time      `json:"at"`
	Did     string         `json:"did"` // shared, updated, taken back, reader removed, revoked or refused
	Share   memory.SpaceID `json:"share,omitzero"`
	Title   string         `json:"title,omitempty"`
	To      []string       `json:"to,omitempty"`
	Copies  int            `json:"copies"` // number of shared copies afterwards
	Added   int            `json:"added,omitempty"`
	Removed int            `json:"removed,omitempty"`
	Why     string         `json:"why,omitempty"`
	By      string         `json:"by,omitempty"` // app:NAME if an app made the share
}

// ShareLog is the log of sharing, the newest first.
type ShareLog struct {
	Deeds []ShareDeed `json:"deeds"`
}

// ShareReader is a person with whom something is shared.
type ShareReader struct {
	Name    string          `json:"name"`
	Member  memory.MemberID `json:"member"`
	Words   string          `json:"words"` // words that identify the key, to compare
	Added   time.Time       `json:"added"`
	Removed time.Time       `json:"removed,omitzero"`
}

// Share is something that is shared.
type Share struct {
	ID       memory.SpaceID `json:"id"`
	Title    string         `json:"title,omitempty"`
	Link     string         `json:"link"` // for the readers; without a reader's key, it opens nothing
	Query    string         `json:"query,omitempty"`
	Redacted []string       `json:"redacted,omitempty"`
	Memories int            `json:"memories"`
	Readers  []ShareReader  `json:"readers"`
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated,omitzero"`
	Expires  time.Time      `json:"expires,omitzero"`
	Revoking bool           `json:"revoking,omitempty"` // the relay has not been told yet
	Revoked  time.Time      `json:"revoked,omitzero"`
	App      string         `json:"app,omitempty"` // the app that made it; absent: the wearer

	AppKey string `json:"-"` // names the app's key in policy rules
}

// SharesAnswer lists shares.
type SharesAnswer struct {
	Shares []Share `json:"shares"`
}

// SharedView is a share as its readers see it.
type SharedView struct {
	Share    Share           `json:"share"`
	Memories []memory.Memory `json:"memories"`
}

// ShareUpdated is the result of an update.
type ShareUpdated struct {
	Share   Share `json:"share"`
	Added   int   `json:"added"`
	Removed int   `json:"removed"`
}

type shareOf struct {
	Share string `path:"share" doc:"its id, or at least 4 characters of it"`
}

type revokeShareOf struct {
	Share  string `path:"share" doc:"its id, or at least 4 characters of it"`
	Reader string `query:"reader" doc:"name or member id of one reader; absent: all readers"`
}

var sharesTopic = topic[Sharer]{previewShare.untyped, createShare.untyped, listShares.untyped, getShare.untyped, updateShare.untyped, revokeShare.untyped, shareLog.untyped}

var (
	previewShare = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/shares/preview", id: "previewShare",
		summary: "Preview a share", gives: "What its readers would see; nothing has left the node",
	}, Sharer.PreviewShare)

	createShare = jsonRoute(RightShare, spec{
		method: "POST", path: "/v1/shares", id: "createShare", made: true,
		summary: "Share redacted copies of memories",
		about:   "An app can share only what it may see itself, selected by types, tags and times, and can end only its own shares.",
		gives:   "The share",
	}, Sharer.CreateShare)

	listShares = plainList[SharesAnswer](RightShare, spec{
		method: "GET", path: "/v1/shares", id: "listShares",
		summary: "List the present and past shares", gives: "The shares; an app gets only its own",
	}, Sharer.Shares)

	shareLog = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/share-log", id: "shareLog",
		summary: "Show what was shared, changed, taken back and refused", gives: "The log, newest first",
	}, Sharer.ShareLog)

	getShare = fieldRoute[shareOf](RightOwner, spec{
		method: "GET", path: "/v1/shares/{share}", id: "getShare",
		summary: "Show a share as its readers see it", gives: "The share, and its memories",
	}, Sharer.Share)

	updateShare = fieldRoute[shareOf](RightOwner, spec{
		method: "POST", path: "/v1/shares/{share}/update", id: "updateShare",
		summary: "Bring a share up to date: add what fits now, remove what no longer fits", gives: "What was added and removed",
	}, Sharer.UpdateShare)

	revokeShare = jsonRoute(RightShare, spec{
		method: "DELETE", path: "/v1/shares/{share}", id: "revokeShare",
		summary: "Remove a reader from a share, or end the share", gives: "The share; nothing new is served, but readers keep what they have fetched",
	}, func(s Sharer, ctx context.Context, in revokeShareOf) (Share, error) {
		return s.RevokeShare(ctx, in.Share, in.Reader)
	})
)

// PreviewShare shows what a share would reveal.
func (c *Client) PreviewShare(ctx context.Context, r ShareRequest) (SharePreview, error) {
	return call(ctx, c, previewShare, r)
}

// CreateShare makes a share.
func (c *Client) CreateShare(ctx context.Context, r ShareRequest) (Share, error) {
	return call(ctx, c, createShare, r)
}

// Shares lists the shares.
func (c *Client) Shares(ctx context.Context) ([]Share, error) {
	return items(ctx, c, listShares, none{})
}

// Share shows a share as its readers see it.
func (c *Client) Share(ctx context.Context, id string) (SharedView, error) {
	return call(ctx, c, getShare, shareOf{id})
}

// ShareLog returns the log of sharing.
func (c *Client) ShareLog(ctx context.Context) (ShareLog, error) {
	return call(ctx, c, shareLog, none{})
}

// UpdateShare updates the content of a share.
func (c *Client) UpdateShare(ctx context.Context, id string) (ShareUpdated, error) {
	return call(ctx, c, updateShare, shareOf{id})
}

// RevokeShare ends a share, or removes one reader.
func (c *Client) RevokeShare(ctx context.Context, id, reader string) (Share, error) {
	return call(ctx, c, revokeShare, revokeShareOf{id, reader})
}
