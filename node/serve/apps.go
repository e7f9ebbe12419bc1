package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Apps manages programs with keys of their own, their rights and limits, and the log of
// what they were shown and wrote.
type Apps interface {
	// AddApp makes a key, which is shown only in this answer. It returns ErrConflict if
	// another app of that name has a valid key. An app that was revoked gets a new key
	// and the new rights, and keeps its log and what it wrote.
	AddApp(ctx context.Context, r AppRequest) (NewApp, error)
	// Apps returns all apps, including revoked ones, the newest first.
	Apps(ctx context.Context) ([]App, error)
	// RevokeApp ends an app's key and its open connections. It returns after everything
	// that the app began to write is written. It returns memory.ErrNotFound if there is
	// no such app.
	RevokeApp(ctx context.Context, name string) (App, error)
	// AppLog returns what an app was shown, wrote and was refused, the newest
	// first.
	AppLog(ctx context.Context, name string, limit int) (AppLog, error)
	// Admit returns the app that a key belongs to, or ErrKey or memory.ErrLocked. The
	// context ends when the key does, with ErrKey as its cause. The caller has to call
	// leave.
	Admit(ctx context.Context, key Secret) (c Caller, within context.Context, leave func(), err error)
}

// AppRequest says what an app may do. Everything else is forbidden.
type AppRequest struct {
	Name string  `json:"name"` // follows the rules for names of wearables
	Can  []Right `json:"can"`  // read, add, update, forget, chat, buy, share and vault; or only console
	// Types are the types of memory that it may see and add, except vault;
	// "utterances" are the lines that were said. An app that may only ask for the
	// vault or open the console needs none.
	Types       []string            `json:"types"`
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"` // the highest level that it may see; absent: personal
	Tags        []string            `json:"tags,omitempty"`        // only memories with one of these tags; empty: memories with any tag or none
	Since       time.Time           `json:"since,omitzero"`        // only memories with evidence from this time or later
	Until       time.Time           `json:"until,omitzero"`        // only memories with evidence from before this time
	Owner       memory.Owner        `json:"owner,omitzero"`        // only memories of this user, agent and run, as far as they are given
	Ends        time.Time           `json:"ends,omitzero"`         // when the key expires; absent: never
	Requests    int                 `json:"requests,omitempty"`    // requests per minute; 0: 120 (DefaultAppRequests)
	Tokens      int                 `json:"tokens,omitempty"`      // tokens of context per day; 0: 100000 (DefaultAppTokens)
	Delegate    int                 `json:"delegate,omitempty"`    // how many times its access may be passed on, each time narrower; up to 8
	Hook        string              `json:"hook,omitempty"`        // URL to which new memories are sent; absent: none
	Buying      *AppBuying          `json:"buying,omitempty"`      // what it may buy, with the right buy
}

// Limits of an app that does not request others.
const (
	DefaultAppRequests = 120
	DefaultAppTokens   = 100_000
)

// An app that a page of the console adds gets no more than the page's form offers,
// because somebody who stole its session would have a key that outlives the session.
const maxPageApp = 366 * 24 * time.Hour

var pageRights = [...]Right{RightRead, RightAdd, RightUpdate, RightForget, RightChat}

// checkPageApp refuses what a page of the console may not give to an app. AddApp checks
// the types: utterances need more than [memory.Personal], and the vault is given to
// none.
func checkPageApp(r *AppRequest) error {
	no := func(field, detail string) error { return kindForbidden.problem(field, detail+": use the command") }
	if i := slices.IndexFunc(r.Can, func(c Right) bool { return !slices.Contains(pageRights[:], c) }); i >= 0 {
		return no(fmt.Sprintf("can.%d", i), "a page of the console may give an app only the rights read, add, update, forget and chat")
	}
	switch {
	case r.Ends.IsZero() || time.Until(r.Ends) > maxPageApp:
		return no("ends", "a page of the console may let an app in for a year at most")
	case r.Sensitivity != nil && *r.Sensitivity > memory.Personal:
		return no("sensitivity", "a page of the console may not let an app see more than personal memories")
	case r.Delegate > 0:
		return no("delegate", "a page of the console may not let an app pass its key on")
	case r.Hook != "":
		return no("hook", "a page of the console may not set a web hook for an app")
	case r.Requests > DefaultAppRequests:
		return no("requests", fmt.Sprintf("a page of the console may allow an app %d requests a minute at most", DefaultAppRequests))
	case r.Tokens > DefaultAppTokens:
		return no("tokens", fmt.Sprintf("a page of the console may allow an app %d tokens a day at most", DefaultAppTokens))
	}
	return nil
}

// AppUtterances in AppRequest.Types is what was said.
const AppUtterances = "utterances"

// App is a program with a key.
type App struct {
	AppRequest
	Added   time.Time `json:"added"`
	Revoked time.Time `json:"revoked,omitzero"`
	Used    time.Time `json:"used,omitzero"`      // when it was last shown or wrote something
	Ended   []string  `json:"ended,omitempty"`    // ids of keys that the app passed on and the owner revoked
	HookOff string    `json:"hook_off,omitempty"` // why new memories are not sent to its hook
}

// NewApp is an app with its key, which is shown only this once.
type NewApp struct {
	App App    `json:"app"`
	Key Secret `json:"key"`
	// HookSecret signs the messages to the app's hook. It is shown only once,
	// too.
	HookSecret Secret `json:"hook_secret,omitempty"`
}

// AppsAnswer lists apps.
type AppsAnswer struct {
	Apps []App `json:"apps"`
}

// AppLog is the log of what an app did.
type AppLog struct {
	App     App      `json:"app"`
	Today   AppDay   `json:"today"`
	Entries []AppUse `json:"entries"`
}

// AppDay counts what an app did since midnight, UTC.
type AppDay struct {
	Tokens  int `json:"tokens"`            // tokens of context that it was given
	Refused int `json:"refused,omitempty"` // refused requests; only the first of a day have log entries
	Unnoted int `json:"unnoted,omitempty"` // requests without a log entry, because they showed and wrote nothing
}

// AppUse is one thing that an app did.
type AppUse struct {
	At      time.Time   `json:"at"`
	Via     string      `json:"via,omitempty"`     // id of the passed-on key that was used
	Did     string      `json:"did"`               // the operation: search, addMemory …
	Shown   []memory.ID `json:"shown,omitempty"`   // memories and lines that it was given
	Wrote   []memory.ID `json:"wrote,omitempty"`   // memories that it added, changed or erased
	Tokens  int         `json:"tokens,omitempty"`  // tokens that it was given
	Refused string      `json:"refused,omitempty"` // why it was not allowed
}

// Consenter lists the apps that ask for access by OAuth.
type Consenter interface {
	// WaitingApps returns the apps that wait for the owner's consent, the newest first.
	WaitingApps(ctx context.Context) ([]WaitingApp, error)
}

// WaitingApp is an app whose consent page is open.
type WaitingApp struct {
	Name string    `json:"name"` // the name that the app gives itself
	Goes string    `json:"goes"` // where the browser is sent afterwards, with the key
	Can  []Right   `json:"can"`  // the rights that it asks for
	At   time.Time `json:"at"`
	Code Secret    `json:"code"` // to enter on its consent page
}

// WaitingAnswer lists apps that wait for consent.
type WaitingAnswer struct {
	Waiting []WaitingApp `json:"waiting"`
}

var vaultWaitTopic = topic[Consenter]{waitingApps.untyped}

var waitingApps = plainList[WaitingAnswer](RightCommand, spec{
	method: "GET", path: "/v1/apps/waiting", id: "waitingApps",
	summary: "List the apps that ask for access, each with the code for its consent page",
	about:   "An assistant without a key asks for one by OAuth, over TCP. Its consent page asks for this code, so that only the owner can agree.",
	gives:   "The waiting apps, newest first",
}, Consenter.WaitingApps)

// WaitingApps returns the apps that ask for access.
func (c *Client) WaitingApps(ctx context.Context) ([]WaitingApp, error) {
	return items(ctx, c, waitingApps, none{})
}

// Self says who makes the request, as the node knows it.
type Self struct {
	Owner bool `json:"owner"`         // the owner makes the request, and may do everything
	App   *App `json:"app,omitempty"` // otherwise, the app that makes the request

	// Run is the number of the daemon's run, for a key with the right console. Send it with each
	// further request, in the header Locket-Run.
	Run string `json:"run,omitempty"`

	// Zone is the IANA name of the time zone in which the wearer's days begin. Absent: it is not
	// known, the node is locked, or the app has no right to read.
	Zone string `json:"zone,omitempty"`
}

// introducer answers who makes a request.
type introducer struct {
	Apps
	Calendar
}

type appLogQuery struct {
	Name  string `path:"name" doc:"name of the app"`
	Limit int    `query:"limit" min:"1" max:"1000" default:"50" doc:"number of entries, newest first"`
}

var appsTopic = topic[Apps]{addApp.untyped, listApps.untyped, revokeApp.untyped, appLog.untyped}

var selfTopic = topic[*introducer]{whoAmI.untyped}

var (
	addApp = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/apps", id: "addApp", made: true,
		summary: "Add an app with a key of its own", about: "The app may do only what the request names. It never sees the vault. If a page of the console makes the request, the app gets at most the rights read, add, update, forget and chat, sees at most personal memories, and its key must end within a year.",
		gives: "The app with its key, which is shown only once",
	}, func(s Apps, ctx context.Context, r AppRequest) (NewApp, error) {
		if ctx.Value(fromPage{}) != nil {
			if err := checkPageApp(&r); err != nil {
				return NewApp{}, err
			}
		}
		return s.AddApp(ctx, r)
	})

	listApps = plainList[AppsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/apps", id: "listApps",
		summary: "List the apps", gives: "All apps, also revoked ones, newest first",
	}, Apps.Apps)

	revokeApp = fieldRoute[byName](RightOwner, spec{
		method: "DELETE", path: "/v1/apps/{name}", id: "revokeApp",
		summary: "Revoke an app's key, and close its open streams", gives: "The revoked app; what it wrote stays until it is reverted",
	}, Apps.RevokeApp)

	appLog = fieldsRoute[appLogQuery](RightOwner, spec{
		method: "GET", path: "/v1/apps/{name}/log", id: "appLog",
		summary: "Show which memories an app was shown, what it wrote, and what it was refused", gives: "The app's log of the last 90 days, newest first",
	}, Apps.AppLog)

	whoAmI = plainRoute(RightApp, spec{
		method: "GET", path: "/v1/self", id: "self",
		summary: "Show whose key this is, and what it may do", gives: "The owner, or an app",
	}, (*introducer).self)
)

func (s *introducer) self(ctx context.Context) (me Self, err error) {
	c := CallerOf(ctx)
	if e, ok := elsewhereOf(ctx); ok {
		c, me.Run = e.key, e.run
	}
	if c == nil || HasRight(ctx, RightRead) {
		switch zone, err := s.Zone(ctx); {
		case err == nil:
			me.Zone = memory.ZoneName(zone)
		case !errors.Is(err, memory.ErrLocked):
			return Self{}, err
		}
	}
	if c == nil {
		me.Owner = true
		return me, nil
	}
	if p, ok := c.(PassedOn); ok {
		if app, passed := p.PassedOn(); passed {
			me.App = &app
			return me, nil
		}
	}
	all, err := s.Apps.Apps(ctx)
	for i := range all {
		if all[i].Name == c.Name() {
			me.App = &all[i]
			return me, err
		}
	}
	return Self{}, err
}

// AddApp adds an app.
func (c *Client) AddApp(ctx context.Context, r AppRequest) (NewApp, error) {
	return call(ctx, c, addApp, r)
}

// Apps lists the apps.
func (c *Client) Apps(ctx context.Context) ([]App, error) {
	return items(ctx, c, listApps, none{})
}

// RevokeApp ends an app's key.
func (c *Client) RevokeApp(ctx context.Context, name string) (App, error) {
	return call(ctx, c, revokeApp, byName{name})
}

// AppLog returns an app's log; limit 0: [DefaultPage] entries.
func (c *Client) AppLog(ctx context.Context, name string, limit int) (AppLog, error) {
	return call(ctx, c, appLog, appLogQuery{name, limit})
}

// Self returns whom the client's key belongs to.
func (c *Client) Self(ctx context.Context) (Self, error) { return call(ctx, c, whoAmI, none{}) }
