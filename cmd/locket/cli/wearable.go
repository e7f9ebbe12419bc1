package cli

import (
	"net"
	"net/url"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// LostPasswordHint says what to do if the password of an existing wearable is lost.
func (a *App) LostPasswordHint(name string) string {
	return "Its password was shown only once. To get a new one: " + a.WithHome("locket wearable remove "+name) + ", and add it again."
}

// OnlyHere says that no other machine reaches a URL, and then what helps. It is empty if another one may.
func OnlyHere(address, help string) string {
	u, err := url.Parse(address)
	if err != nil || !clientaddr.Loopback(u.Hostname()) {
		return ""
	}
	return "No other machine can reach " + u.Host + ". " + help + "\n"
}

// OnlyLocalNote says what to do if other devices cannot reach a broker's URL. Otherwise it is empty.
func OnlyLocalNote(broker string) string {
	u, err := url.Parse(broker)
	if err != nil {
		return ""
	}
	if host := u.Hostname(); !clientaddr.Loopback(host) && !net.ParseIP(host).IsUnspecified() {
		return ""
	}
	return "Only programs on this machine can reach that address. For a wearable that connects over the network:\n" + DocsAt + "mqtt.md#over-the-network\n"
}
