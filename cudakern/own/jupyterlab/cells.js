// JupyterLab colors and indents every cell in the language of the kernel, whatever magic it begins with
// (jupyterlab/jupyterlab#15324). This extension makes those that begin with %%cuda C++. It is written as bundlers write
// extensions, so it needs no build: JupyterLab calls init with the modules that it shares, and get for the plugin.
//
// The mode for Objective-C++ goes by words. The one for C++ parses the text, and %%cuda and __global__ are no C++.
(() => {
  let shared;
  const load = async (name) => (await Object.values(shared[name])[0].get())();

  const activate = (_app, notebooks, languages) =>
    notebooks.widgetAdded.connect(async (_tracker, panel) => {
      await panel.context.ready;
      const watch = (cell) => {
        if (cell.type !== "code") return;
        const choose = async () => {
          await languages.getLanguage(cell.mimeType); // an editor shows the language that was loaded last
          const isCuda = /^\s*%%cuda\b/.test(cell.sharedModel.getSource());
          cell.mimeType = isCuda ? "text/x-objectivec++" : panel.content.codeMimetype;
        };
        choose();
        cell.contentChanged.connect(choose);
        cell.mimeTypeChanged.connect(choose); // when the kernel has told its language
      };
      const { cells } = panel.content.model;
      for (const cell of cells) watch(cell);
      cells.changed.connect((_list, change) => change.newValues.forEach(watch));
    });

  (window._JUPYTERLAB ??= {}).cudakern = {
    init: (modules) => {
      shared = modules;
    },
    get: async () => {
      const { INotebookTracker } = await load("@jupyterlab/notebook");
      const { IEditorLanguageRegistry } = await load("@jupyterlab/codemirror");
      const requires = [INotebookTracker, IEditorLanguageRegistry];
      return () => ({ id: "cudakern:cells", autoStart: true, requires, activate });
    },
  };
})();
