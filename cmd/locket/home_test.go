package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/runcmd"
	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
)

// cheapHome are settings with which a home opens quickly: it loads no built-in plugin.
// A script that needs sentences to be understood sets LOCKET_PLUGINS_DISABLED to fewer plugins.
var cheapHome = []string{"LOCKET_PLUGINS_DISABLED=secrets,language,speech,scene,facts,plans,howto", "LOCKET_BROKER_LISTEN=127.0.0.1:0", "LOCKET_DISK_RESERVE=1MB"}

// madePhrase is the recovery phrase of the home that testDeps made last.
var madePhrase string

// testDeps is Product with shared compiled plugins, cheap passphrases and no demo.
func testDeps() cli.Deps {
	none := []string{} // other programs of this machine may listen where engines do
	look := engines.Places{Whisper: none, Speech: none, Wyoming: none, Ollama: none, Llama: none, Announced: func(context.Context) []netip.AddrPort { return nil }}
	d := runcmd.Product(os.Getenv(plugincache.Env), look, 4)
	d.Environ = append(slices.Clone(cheapHome), os.Environ()...)
	init := d.InitHome
	d.InitHome = func(cfg config.Config, o cli.InitOptions) (phrase string, err error) {
		phrase, err = init(cfg, o)
		madePhrase = phrase
		return phrase, err
	}
	d.Demo = func(_ context.Context, out io.Writer, json bool, seed uint64, _ string) error {
		fmt.Fprintln(out, "demo", json, seed)
		return nil
	}
	return d
}
