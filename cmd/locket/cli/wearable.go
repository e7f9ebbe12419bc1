package cli

import (
	"net"
	"net/url"
)

// ShownOnce says what to do without the password of a wearable that is there.
func (a *App) ShownOnce(name string) string {
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
	return "Only programs on this machine reach that address. For a wearable that comes over the network:\n" + DocsAt + "mqtt.md#over-the-network\n"
}
