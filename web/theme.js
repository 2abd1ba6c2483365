// Before the first paint: the colours that were chosen last time. Without a choice, the system's.
(() => {
    try {
        const theme = localStorage.getItem('perhaps-theme');
        if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    } catch {
        // No storage, as in private windows: the system's colours.
    }
})();
