package appcmd

import (
	"fmt"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

// newApp is what locket app add prints.
type newApp struct {
	serve.NewApp
	Link string `json:"link,omitempty"`
}

// showLink shows the link for an app on another machine, on a terminal also as a QR code.
func showLink(a *cli.App, link string) {
	if link == "" {
		return
	}
	fmt.Fprintf(a.Stderr, "On another machine (see locket mcp --help, and %sapps.md):\n%s\n", cli.DocsAt, link)
	if l, err := door.ParseLink(link); err == nil {
		fmt.Fprint(a.Stderr, cli.OnlyHere(l.Address, a.WithHome("To let one in: locket config --help; set api.remote to 0.0.0.0:PORT, or api.public_url, and restart the daemon.")))
	}
	if a.IsInteractive() {
		picture, _ := a.QR(a.Stderr, link)
		fmt.Fprint(a.Stderr, picture)
	}
}

// linkFor returns the link for an app on another machine. It is empty if the node has no address
// that other machines can reach.
func linkFor(c *config.Config, n *serve.NewApp) (string, error) {
	if c.API.Remote == "" && c.API.Public == "" {
		return "", nil
	}
	address, err := door.Address(c.API.Remote, c.API.Public)
	if err != nil {
		return "", err
	}
	pin, err := door.Pin(cli.DoorConfig(c))
	if err != nil {
		return "", err
	}
	return door.Link{Address: address, App: n.App.Name, Key: string(n.Key), Pin: pin}.String(), nil
}
