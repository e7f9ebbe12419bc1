package serve

import (
	"context"
	"time"
)

// Consoler opens the console, the web page for the wearer's browser.
type Consoler interface {
	// OpenConsole returns a link that opens the console once. It returns
	// ErrUnsupported if no daemon runs to serve it.
	OpenConsole(ctx context.Context) (ConsoleLink, error)
}

// ConsoleLink is a link to the console.
type ConsoleLink struct {
	URL     string    `json:"url"`     // has a code that works for one session
	Expires time.Time `json:"expires"` // when the code expires
}

var consoleTopic = topic[Consoler]{openConsole.untyped}

var openConsole = plainRoute(RightCommand, spec{
	method: "POST", path: "/v1/console", id: "openConsole",
	summary: "Make a link that opens the console in the browser of this machine",
	about:   "The console is a page on a loopback address of its own, which the daemon serves from the first link on. The code in the link works once, within two minutes; the browser exchanges it for a session. A session can't ask for another link.",
	gives:   "The link",
}, Consoler.OpenConsole)

// OpenConsole asks for a link.
func (c *Client) OpenConsole(ctx context.Context) (ConsoleLink, error) {
	return call(ctx, c, openConsole, none{})
}
