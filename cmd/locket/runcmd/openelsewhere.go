package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/console"
	"github.com/locket-dev/locket/node/door"
	"github.com/locket-dev/locket/node/serve"
)

// openElsewhere shows the console of a node on another machine until its last session has ended. A
// file contains the link to the node. If the node ends the session, the error says why.
func openElsewhere(a *cli.App, ctx context.Context, file string, quiet bool) (err error) {
	var to door.Link
	text, err := serve.ReadToken(file)
	if err == nil {
		to, err = door.ParseLink(string(text))
	}
	if err != nil {
		return cli.OtherMachineError{Err: fmt.Errorf("reading %s: %w", file, err), Advice: "On the node's machine, with api.remote set, run: locket app add NAME --can console --for 30d"}
	}
	page := console.New(console.Options{Listen: "127.0.0.1:0", ReopenCommand: "locket open --key-file FILE"})
	defer func() { err = errors.Join(err, page.Close()) }()
	api, err := console.RemoteAPI(ctx, to, page.End)
	if err != nil {
		return fmt.Errorf("opening the console of %s: %w", to.Address, err)
	}
	page.Serve(api)
	link, err := page.OpenConsole(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "locket-open-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := a.OpenLink(link, dir, quiet); err != nil {
		return err
	}
	err = page.Wait(ctx)
	if errors.Is(err, console.ErrEnded) {
		return cli.OtherMachineError{Err: fmt.Errorf("the console of %s: %w", to.Address, err), Advice: "If it was locked, unlock it on its own machine and open the console again. If the key has expired, make another there: locket app add NAME --can console --for 30d"}
	}
	return err
}
