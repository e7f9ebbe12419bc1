package cli

// ReadyPlugins is the folder in which packages put compiled plugins for all homes of the machine.
const ReadyPlugins = "/var/cache/locket/plugins"

// PluginBlocks is said of a plugin that takes words away and does not run, though
// nobody turned it off: what it did not see, nobody sees.
const PluginBlocks = "; all that is said is SET ASIDE until you enable it, turn it off or remove it"
