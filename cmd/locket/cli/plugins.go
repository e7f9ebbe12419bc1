package cli

// ReadyPlugins is the folder where packages put compiled plugins for all homes on the machine.
const ReadyPlugins = "/var/cache/locket/plugins"

// PluginBlocks is shown for a plugin that redacts words and does not run although nobody turned it
// off: until it runs, nothing that it has not seen is processed.
const PluginBlocks = "; everything that is said is SET ASIDE until you enable it, turn it off or remove it"
