--- The panels: the subcommand that shows each, and what it shows, in the order of <Tab>.

---@type [string, string][]
return {
  { 'server', 'see all servers, install and choose one' },
  { 'dashboard', 'show what all chats do and wait for' },
  { 'checkpoints', 'go back to the files before a prompt' },
  { 'jobs', 'show what runs in the background' },
  { 'mcp', 'show the MCP servers' },
  { 'tools', 'show all tools, and what is allowed' },
  { 'providers', 'show who offers models, log in, set a model' },
  { 'memory', 'show what is remembered and loaded' },
  { 'trace', 'show what the plugin and the server tell each other' },
}
