// Command build builds the built-in plugins into wasm/plugins/bin, compressed, with their sums. It
// is run from the top of the repository.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/locket-dev/locket/wasm/plugins/internal/pack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	dir := filepath.Join("wasm", "plugins")
	switch len(args) {
	case 0:
	case 1:
		dir = args[0]
	default:
		fmt.Fprintln(stderr, "usage: build [FOLDER OF THE PLUGINS]")
		return 2
	}
	if err := build(ctx, dir, stdout); err != nil {
		fmt.Fprintln(stderr, "build:", err)
		return 1
	}
	return 0
}

func build(ctx context.Context, dir string, stdout io.Writer) error {
	list, err := pack.Build(ctx, dir)
	if err != nil {
		return err
	}
	var text []byte // the dictionary for the other modules
	for _, m := range list {
		if m.Name == pack.Shared {
			text = m.Wasm
		}
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(bin, "*.wasm.zst"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	for _, m := range list {
		dict := text
		if m.Name == pack.Shared {
			dict = nil
		}
		z, err := pack.Compress(m.Wasm, dict)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(bin, m.Name+".wasm.zst"), z, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s  %s.wasm  %d bytes, %d compressed\n", fmt.Sprintf("%x", m.Sum())[:16], m.Name, len(m.Wasm), len(z))
	}
	return os.WriteFile(filepath.Join(bin, "SHA256SUMS"), pack.SumsOf(list).Format(), 0o644)
}
