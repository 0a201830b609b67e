// The client of the language server: it starts `treeml language-server` and shows the tree that the lens "solve" finds.
"use strict";

const fs = require("fs");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function newClient() {
  const command = vscode.workspace.getConfiguration("treeml").get("command") || "treeml";
  const folder = (vscode.workspace.workspaceFolders || [])[0];
  const server = {
    command,
    args: ["language-server"],
    transport: TransportKind.stdio,
    options: folder ? { cwd: folder.uri.fsPath } : {},
  };
  const options = {
    documentSelector: [{ scheme: "file", language: "treeml" }, { scheme: "untitled", language: "treeml" }],
    middleware: {
      // The server answers the lens with the report and a page; the page is shown beside the text.
      executeCommand: async (name, given, next) => {
        const answer = await next(name, given);
        if (name === "treeml.solve" && answer) showSolved(answer);
        return answer;
      },
      window: { showDocument: async () => ({ success: true }) },
    },
  };
  return new LanguageClient("treeml", "TreeML", server, options);
}

function showSolved(answer) {
  if (!answer.page) {
    vscode.workspace.openTextDocument({ content: answer.text }).then((document) =>
      vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true));
    return;
  }
  const panel = vscode.window.createWebviewPanel("treeml.tree", "Decision tree", vscode.ViewColumn.Beside, {});
  panel.webview.html = fs.readFileSync(answer.page, "utf8");
}

async function start() {
  client = newClient();
  try {
    await client.start();
  } catch (error) {
    const text = "TreeML is not found. Install it with: pip install 'treeml[editor]', or set treeml.command.";
    vscode.window.showErrorMessage(`${text} (${error.message || error})`);
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("treeml.solveFile", () => {
      const editor = vscode.window.activeTextEditor;
      if (editor) return vscode.commands.executeCommand("treeml.solve", editor.document.uri.toString());
    }),
    vscode.commands.registerCommand("treeml.restart", async () => {
      if (client) await client.dispose();
      await start();
    }),
  );
  if (vscode.workspace.isTrusted) await start();
  else context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(start));
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
