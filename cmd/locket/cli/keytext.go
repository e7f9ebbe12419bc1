package cli

import (
	"fmt"
	"os"
	"strings"
)

// KeyText reads a key that is given as itself, or as the name of a file behind @.
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
