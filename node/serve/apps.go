package serve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Apps manages programs with keys of their own, their rights and limits, and
// the account of what they were shown and wrote.
type Apps interface {
	// AddApp makes a key, which is shown only in this answer. It returns
	// ErrConflict if another app of that name has a valid key. An app that was
	// revoked gets a new key and the new rights, and keeps its account and what
	// it wrote.
	AddApp(ctx context.Context, r AppRequest) (NewApp, error)
	// Apps returns all apps, also revoked ones, the newest first.
	Apps(ctx context.Context) ([]App, error)
	// RevokeApp ends an app's key and its open connections. It returns after
	// everything that the app began to write is done. It returns
	// memory.ErrNotFound if there is no such app.
	RevokeApp(ctx context.Context, name string) (App, error)
	// AppLog returns what an app was shown, wrote and was refused, the newest
	// first.
	AppLog(ctx context.Context, name string, limit int) (AppLog, error)
	// Admit returns the app with a key, or ErrKey or memory.ErrLocked. The
	// context ends when the key does, with ErrKey as its cause. The caller has
	// to call leave.
	Admit(ctx context.Context, key Secret) (c Caller, within context.Context, leave func(), err error)
}

// AppRequest says what an app may do. Everything else is forbidden.
type AppRequest struct {
	Name string  `json:"name"` // as of a wearable
	Can  []Right `json:"can"`  // read, add, update, forget, chat, buy, share, vault; or console alone
	// Types are the types of memory that it may see and add, except vault;
	// "utterances" are the lines that were said. An app that may only ask for the
	// vault or open the console needs none.
	Types       []string            `json:"types"`
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"` // the highest that it may see; absent: personal
	Tags        []string            `json:"tags,omitempty"`        // only memories with one of these; empty: with any
	Since       time.Time           `json:"since,omitzero"`        // of the evidence, at or after
	Until       time.Time           `json:"until,omitzero"`        // of the evidence, before
	Owner       memory.Owner        `json:"owner,omitzero"`        // only of this user, agent and run, as far as they are given
	Ends        time.Time           `json:"ends,omitzero"`         // when the key expires; absent: never
	Requests    int                 `json:"requests,omitempty"`    // a minute; 0: DefaultAppRequests
	Tokens      int                 `json:"tokens,omitempty"`      // of context a day; 0: DefaultAppTokens
	Delegate    int                 `json:"delegate,omitempty"`    // how often it may pass a part of this on, each time narrower; up to 8
	Hook        string              `json:"hook,omitempty"`        // URL where it is told of new memories; absent: nowhere
	Buying      *AppBuying          `json:"buying,omitempty"`      // what it may buy with the right buy
}

// Limits of an app that does not request others.
const (
	DefaultAppRequests = 120
	DefaultAppTokens   = 100_000
)

// A page of the console gives an app no more than its form offers, because whoever stole
// its session would have a key that outlives it.
const maxPageApp = 366 * 24 * time.Hour

var pageRights = [...]Right{RightRead, RightAdd, RightUpdate, RightForget, RightChat}

// checkPageApp refuses what a page of the console may not give an app. Types are left to
// AddApp: utterances need more than [memory.Personal], and the vault is given to none.
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
	Ended   []string  `json:"ended,omitempty"`    // ids of keys that it passed on and the owner revoked
	HookOff string    `json:"hook_off,omitempty"` // why it is not told of new memories
}

// NewApp is an app with its key, which is shown this once.
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

// AppLog is the account of an app.
type AppLog struct {
	App     App      `json:"app"`
	Today   AppDay   `json:"today"`
	Entries []AppUse `json:"entries"`
}

// AppDay counts what an app did since midnight, UTC.
type AppDay struct {
	Tokens  int `json:"tokens"`            // of context that it was given
	Refused int `json:"refused,omitempty"` // refused requests; only the first of a day have entries
	Unnoted int `json:"unnoted,omitempty"` // requests without an entry, because they showed and wrote nothing
}

// AppUse is one thing that an app did.
type AppUse struct {
	At      time.Time   `json:"at"`
	Via     string      `json:"via,omitempty"`     // the id of the key that was passed on and used
	Did     string      `json:"did"`               // the operation: search, addMemory …
	Shown   []memory.ID `json:"shown,omitempty"`   // memories and lines that it was given
	Wrote   []memory.ID `json:"wrote,omitempty"`   // memories that it added, changed or erased
	Tokens  int         `json:"tokens,omitempty"`  // of what it was given
	Refused string      `json:"refused,omitempty"` // why it was not allowed
}

// Consenter has the apps that ask by OAuth to be let in.
type Consenter interface {
	// WaitingApps returns them, the newest first.
	WaitingApps(ctx context.Context) ([]WaitingApp, error)
}

// WaitingApp is an app whose page of consent is open.
type WaitingApp struct {
	Name string    `json:"name"` // as it calls itself
	Goes string    `json:"goes"` // where the browser goes on to, with the key
	Can  []Right   `json:"can"`  // what it asks for
	At   time.Time `json:"at"`
	Code Secret    `json:"code"` // for its page
}

// WaitingAnswer lists apps that wait.
type WaitingAnswer struct {
	Waiting []WaitingApp `json:"waiting"`
}

var consenting = topic[Consenter]{waitingApps.untyped}

var waitingApps = plainList[WaitingAnswer](RightCommand, spec{
	method: "GET", path: "/v1/apps/waiting", id: "waitingApps",
	summary: "Show the apps that ask to be let in, each with the code for its page",
	about:   "An assistant that was given no key asks for one by OAuth, at an address over TCP. Its page of consent wants the code, so that nobody but the owner agrees.",
	gives:   "The newest first",
}, Consenter.WaitingApps)

// WaitingApps returns the apps that ask to be let in.
func (c *Client) WaitingApps(ctx context.Context) ([]WaitingApp, error) {
	return items(ctx, c, waitingApps, none{})
}

// Self says who makes the request, as the node knows.
type Self struct {
	Owner bool `json:"owner"`         // the owner, who may do everything
	App   *App `json:"app,omitempty"` // otherwise this app

	// Run is the number of the daemon's run, for a key with the right console; it
	// goes with each further request, in the header Locket-Run.
	Run string `json:"run,omitempty"`
}

type appLogQuery struct {
	Name  string `path:"name" doc:"its name"`
	Limit int    `query:"limit" min:"1" max:"1000" default:"50" doc:"entries, the newest first"`
}

var lettingIn = topic[Apps]{addApp.untyped, listApps.untyped, revokeApp.untyped, appLog.untyped, whoAmI.untyped}

var (
	addApp = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/apps", id: "addApp", made: true,
		summary: "Let an app in by a key of its own", about: "What the request does not name, the app may not do. It never sees the vault. From a page of the console an app gets the rights read, add, update, forget and chat at most, sees what is personal at most, and has to have an end within a year.",
		gives: "The key, shown this once",
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
		summary: "List the apps", gives: "The newest first, with those that were revoked",
	}, Apps.Apps)

	revokeApp = fieldRoute[byName](RightOwner, spec{
		method: "DELETE", path: "/v1/apps/{name}", id: "revokeApp",
		summary: "End an app's key, and the streams that it has open", gives: "It is out; what it wrote stays until it is reverted",
	}, Apps.RevokeApp)

	appLog = fieldsRoute[appLogQuery](RightOwner, spec{
		method: "GET", path: "/v1/apps/{name}/log", id: "appLog",
		summary: "Which memories an app was shown, what it wrote, and what it was refused", gives: "The account of 90 days, the newest first",
	}, Apps.AppLog)

	whoAmI = plainRoute(RightApp, spec{
		method: "GET", path: "/v1/self", id: "self",
		summary: "Whose key this is, and what it may do", gives: "The owner, or an app",
	}, func(s Apps, ctx context.Context) (Self, error) {
		c, run := CallerOf(ctx), ""
		if e, ok := elsewhereOf(ctx); ok {
			c, run = e.key, e.run
		}
		if c == nil {
			return Self{Owner: true}, nil
		}
		if p, ok := c.(PassedOn); ok {
			if app, passed := p.PassedOn(); passed {
				return Self{App: &app, Run: run}, nil
			}
		}
		all, err := s.Apps(ctx)
		for i := range all {
			if all[i].Name == c.Name() {
				return Self{App: &all[i], Run: run}, err
			}
		}
		return Self{}, err
	})
)

// AddApp makes an app.
func (c *Client) AddApp(ctx context.Context, r AppRequest) (NewApp, error) {
	return call(ctx, c, addApp, r)
}

// Apps lists them.
func (c *Client) Apps(ctx context.Context) ([]App, error) {
	return items(ctx, c, listApps, none{})
}

// RevokeApp ends an app's key.
func (c *Client) RevokeApp(ctx context.Context, name string) (App, error) {
	return call(ctx, c, revokeApp, byName{name})
}

// AppLog returns an app's account; limit 0: [DefaultPage] entries.
func (c *Client) AppLog(ctx context.Context, name string, limit int) (AppLog, error) {
	return call(ctx, c, appLog, appLogQuery{name, limit})
}

// Self returns to whom the client's key belongs.
func (c *Client) Self(ctx context.Context) (Self, error) { return call(ctx, c, whoAmI, none{}) }
