package devicecmd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/memorycmd"
	"github.com/locket-dev/locket/cmd/locket/recallcmd"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// ShowingOf is [recallcmd.Showing] of what the command's argument names.
func ShowingOf[T any](a *cli.App, get func(*serve.Client, context.Context, string) (T, error), show func(w io.Writer, v *T)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return recallcmd.Answered(cmd.Context(), a, get, args[0], show)
	}
}

// Confirm asks a question that only "y" and "yes" answer.
func Confirm(a *cli.App, question string) bool { return memorycmd.Agreed(a, question, "no") == nil }

// ShownOnce says what to do without the password of a wearable that is there.
func ShownOnce(a *cli.App, name string) string {
	return "Its password was shown once. For another one: " + a.Here("locket wearable remove "+name) + ", and add it again."
}

// OnlyHere says what to do where a broker's URL is of no use to a device that is not this machine;
// otherwise it is empty.
func OnlyHere(broker string) string {
	u, err := url.Parse(broker)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && !ip.IsLoopback() && !ip.IsUnspecified() {
		return ""
	}
	return "Only programs on this machine reach that address. For a wearable that comes over the network:\n" + cli.DocsAt + "mqtt.md#over-the-network\n"
}

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

func ReadTypes(list []string) (out []memory.Type) {
	for _, t := range list {
		out = append(out, memory.Type(t))
	}
	return out
}
