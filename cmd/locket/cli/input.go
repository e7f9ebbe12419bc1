package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadInput reads a file, or standard input if its name is -. It reads at most most bytes.
func (a *App) ReadInput(file string, most int64) ([]byte, error) {
	in := io.Reader(a.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, most))
}

// KeyText returns a key that is given directly, or as @ and the name of a file.
func KeyText(s string) (string, error) {
	name, key, named := strings.Cut(s, "=")
	if !named {
		name, key = "", s
	}
	if file, ok := strings.CutPrefix(key, "@"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading key: %w", err)
		}
		key = strings.Join(strings.Fields(string(b)), "")
	}
	if named {
		return name + "=" + key, nil
	}
	return key, nil
}
